package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestSizesCountEachFileOnce(t *testing.T) {
	volume := writeFiles(t, map[string]string{"one": string(make([]byte, 5000)), "empty": "", "deep/two": string(make([]byte, 3000))})
	root := writeFiles(t, map[string]string{"outside": string(make([]byte, 9000))})
	for _, err := range []error{
		os.Link(filepath.Join(volume, "one"), filepath.Join(volume, "deep", "again")),
		os.Symlink(filepath.Join(root, "outside"), filepath.Join(volume, "link")),
		os.Symlink(volume, filepath.Join(root, "mounted")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	folders := []string{filepath.Join(root, "mounted"), filepath.Join(root, "later")}
	size, err := resident(folders)
	if err != nil {
		t.Fatal(err)
	}
	if size.TotalBytes != 8000 || size.Files != 3 {
		t.Errorf("the folders have %d bytes in %d files, expected 8000 bytes in 3 files", size.TotalBytes, size.Files)
	}
	onDisk, err := dataBytes(folders)
	if err != nil {
		t.Fatal(err)
	}
	if onDisk%512 != 0 || onDisk > 8192+4096 {
		t.Errorf("the files take %d bytes on disk, expected at most three blocks of 4096 bytes", onDisk)
	}
}

func TestResidentBytesExcludeTheRemainderOfTheLastPage(t *testing.T) {
	data := writeFiles(t, map[string]string{"written": string(bytes.Repeat([]byte{1}, 5000))})
	size, err := resident([]string{data})
	if err != nil {
		t.Fatal(err)
	}
	if size.ResidentBytes != 5000 {
		t.Errorf("%d bytes are resident, expected all 5000 bytes, which were just written", size.ResidentBytes)
	}
	left, err := drop([]string{data})
	if err != nil {
		t.Fatal(err)
	}
	if left.TotalBytes != 5000 || left.Files != 1 || left.ResidentBytes > 5000 {
		t.Errorf("after the drop: %+v, expected the same file", left)
	}
}
