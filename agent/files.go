package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"
)

const (
	fadviseDontNeed = 4
	mincoreWindow   = 64 << 20 // bytes per call of mincore: its vector takes 16 KiB
	accessWrite     = 2
	dropPasses      = 3
)

// residence is the size of the data's files, and the part of their bytes that is in the page cache.
type residence struct {
	ResidentBytes int64 `json:"resident_bytes"`
	TotalBytes    int64 `json:"total_bytes"`
	Files         int   `json:"files"`
}

// eachFile calls `visit` once for every regular file in the folders. It skips files that vanish meanwhile, and folders that the server
// has not made yet.
func eachFile(folders []string, visit func(path string, stat *syscall.Stat_t) error) error {
	type identity struct{ device, inode uint64 }
	seen := map[identity]bool{} // files with several names
	for _, folder := range folders {
		// A volume is often behind a symbolic link.
		root, err := filepath.EvalSymlinks(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return unreadable(folder, err)
		}
		err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.Type().IsRegular() {
				return nil
			}
			var stat syscall.Stat_t
			if err == nil {
				err = syscall.Lstat(path, &stat)
			}
			if err == nil {
				file := identity{uint64(stat.Dev), uint64(stat.Ino)}
				if stat.Nlink > 1 && seen[file] {
					return nil
				} else if stat.Nlink > 1 {
					seen[file] = true
				}
				err = visit(path, &stat)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			// The file system's own folder, which only root may read. It holds no data of the server.
			if errors.Is(err, fs.ErrPermission) && filepath.Base(path) == "lost+found" {
				return fs.SkipDir
			}
			return unreadable(path, err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func unreadable(path string, err error) error {
	var known *problem
	if err == nil || errors.As(err, &known) {
		return err
	}
	return failure("the data's files cannot be read", "%s: %v: run the container as the user that owns them", path, err)
}

// dataBytes returns the size of the files on disk: their allocated blocks, in bytes.
func dataBytes(folders []string) (int64, error) {
	var sum int64
	err := eachFile(folders, func(_ string, stat *syscall.Stat_t) error {
		sum += int64(stat.Blocks) * 512
		return nil
	})
	return sum, err
}

// resident counts the pages of the files that are in the page cache, without reading the files.
func resident(folders []string) (residence, error) {
	result := residence{}
	vector := make([]byte, mincoreWindow/os.Getpagesize())
	err := eachFile(folders, func(path string, stat *syscall.Stat_t) error {
		bytes, err := residentBytes(path, stat, vector)
		if err == nil {
			result.ResidentBytes += bytes
			result.TotalBytes += stat.Size
			result.Files++
		}
		return err
	})
	return result, err
}

func residentBytes(path string, stat *syscall.Stat_t, vector []byte) (int64, error) {
	if stat.Size == 0 {
		return 0, nil
	}
	// For other users' files, the kernel reports all pages as resident, whether they are or not.
	if int(stat.Uid) != os.Geteuid() && syscall.Access(path, accessWrite) != nil {
		return 0, failure("the kernel does not report which pages of the data are in memory",
			"%s belongs to user %d, and this is user %d, who may not write it: run the container as its owner", path, stat.Uid, os.Geteuid())
	}
	file, err := openFile(path)
	if err != nil {
		return 0, err
	}
	defer syscall.Close(file)
	mapped, err := syscall.Mmap(file, 0, int(stat.Size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return 0, fmt.Errorf("mmap: %w", err)
	}
	defer syscall.Munmap(mapped)
	pages := int64(0)
	for offset := 0; offset < len(mapped); offset += mincoreWindow {
		window := mapped[offset:]
		if len(window) > mincoreWindow {
			window = window[:mincoreWindow]
		}
		_, _, code := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(&window[0])), uintptr(len(window)),
			uintptr(unsafe.Pointer(&vector[0])))
		if code != 0 {
			return 0, fmt.Errorf("mincore: %w", code)
		}
		for _, state := range vector[:(len(window)+os.Getpagesize()-1)/os.Getpagesize()] {
			pages += int64(state & 1)
		}
	}
	found := pages * int64(os.Getpagesize())
	if found > stat.Size { // the last page is not full
		found = stat.Size
	}
	return found, nil
}

// drop writes the files' changed pages to disk and evicts the files from the page cache, except pages that a process has mapped. It
// repeats as long as each pass leaves fewer pages.
func drop(folders []string) (residence, error) {
	left := residence{ResidentBytes: -1}
	for pass := 0; pass < dropPasses; pass++ {
		err := eachFile(folders, func(path string, stat *syscall.Stat_t) error { return dropFile(path) })
		if err != nil {
			return left, err
		}
		now, err := resident(folders)
		if err != nil || now.ResidentBytes == 0 || now.ResidentBytes == left.ResidentBytes {
			return now, err
		}
		left = now
	}
	return left, nil
}

func dropFile(path string) error {
	file, err := openFile(path)
	if err != nil {
		return err
	}
	defer syscall.Close(file)
	if err := syscall.Fsync(file); err != nil {
		return fmt.Errorf("fsync: %w", err)
	}
	if _, _, code := syscall.Syscall6(syscall.SYS_FADVISE64, uintptr(file), 0, 0, fadviseDontNeed, 0, 0); code != 0 {
		return fmt.Errorf("posix_fadvise: %w", code)
	}
	return nil
}

func openFile(path string) (int, error) {
	for {
		file, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if err != syscall.EINTR {
			return file, err
		}
	}
}
