// The S3 server of the embedded stack: versitygw over a folder, with the options and defaults of its own command. That command links
// a test suite and the clients of Azure and of other S3 servers, too: 94 of its 588 packages, a quarter of the source.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	config := embedgw.Config{
		RootUserAccess:    os.Getenv("ROOT_ACCESS_KEY"),
		RootUserSecret:    os.Getenv("ROOT_SECRET_KEY"),
		MaxConnections:    250_000,
		MaxRequests:       100_000,
		MultipartMaxParts: 10_000,
	}
	port := flag.String("port", ":7070", "the address to listen on")
	flag.StringVar(&config.HealthPath, "health", "", "the path that answers when the server is healthy")
	flag.BoolVar(&config.KeepAlive, "keep-alive", false, "keep connections open between requests")
	flag.BoolVar(&config.Quiet, "quiet", false, "print no line for each request")
	flag.Parse()
	if flag.NArg() != 2 || flag.Arg(0) != "posix" {
		fmt.Fprintln(os.Stderr, "usage: versitygw [options] posix FOLDER")
		flag.PrintDefaults()
		os.Exit(2)
	}
	config.Ports = []string{*port}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, flag.Arg(1), &config); err != nil {
		log.Fatal(err)
	}
}

// serve serves the objects in the folder until ctx ends. Errors: the folder's file system has no extended attributes; no login.
func serve(ctx context.Context, folder string, config *embedgw.Config) error {
	if err := (meta.XattrMeta{}).Test(folder); err != nil {
		return fmt.Errorf("the file system of %s must keep extended attributes: %w", folder, err)
	}
	objects, err := posix.New(folder, meta.XattrMeta{}, posix.PosixOpts{CopyObjectThreshold: 5 << 30})
	if err != nil {
		return err
	}
	return embedgw.RunVersityGW(ctx, objects, config)
}
