// Command fetch gets a large file by HTTP, in large pieces: a machine whose processor is emulated gets it several times as fast as by busybox. What
// breaks off goes on from where it was. It waits for a server that is away, and ends with 1 when the file is not the one that is wanted.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

const (
	again     = 2 * time.Second
	pieceSize = 1 << 20
	// A connection over which nothing comes for so long is given up.
	silence = 30 * time.Second
)

func main() {
	size := flag.Int64("size", 0, "the file's size in `bytes`")
	sum := flag.String("sha256", "", "the file's checksum in `hex`; empty: it is not looked at")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: fetch -size BYTES [-sha256 HEX] URL FILE")
		os.Exit(2)
	}
	url, path := flag.Arg(0), flag.Arg(1)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err == nil {
		err = fetch(url, &wanted{Writer: file, hash: sha256.New(), sum: *sum, left: *size})
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "fetch: %s: %v\n", url, err)
		os.Exit(1)
	}
}

// wanted is the file as far as it is there.
type wanted struct {
	io.Writer
	hash hash.Hash
	sum  string
	at   int64
	left int64
}

func (w *wanted) Write(piece []byte) (int, error) {
	if w.sum != "" {
		w.hash.Write(piece)
	}
	n, err := w.Writer.Write(piece)
	w.at += int64(n)
	w.left -= int64(n)
	return n, err
}

// errOther is what no further attempt changes.
var errOther = errors.New("it is of another build than the initramfs")

func fetch(url string, to *wanted) error {
	for last := ""; ; time.Sleep(again) {
		err := goOn(url, to)
		if errors.Is(err, errOther) {
			return err
		}
		if err == nil && to.left == 0 {
			break
		}
		if text := fmt.Sprint(err); text != last {
			fmt.Fprintf(os.Stderr, "fetch: %s: %v; it is tried again\n", url, err)
			last = text
		}
	}
	if found := hex.EncodeToString(to.hash.Sum(nil)); to.sum != "" && found != to.sum {
		return fmt.Errorf("%w: its checksum is %s", errOther, found)
	}
	return nil
}

// goOn takes what one answer brings.
func goOn(url string, to *wanted) error {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if to.at > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", to.at))
	}
	client := http.Client{Transport: &http.Transport{DialContext: dial, ResponseHeaderTimeout: silence}}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	wantedStatus := http.StatusOK
	if to.at > 0 {
		wantedStatus = http.StatusPartialContent
	}
	if answer.StatusCode != wantedStatus {
		return fmt.Errorf("the server answered %s", answer.Status)
	}
	if answer.ContentLength >= 0 && answer.ContentLength != to.left {
		return fmt.Errorf("%w: its size is %d", errOther, to.at+answer.ContentLength)
	}
	// Not io.Copy: by the connection's own way the pieces are small.
	piece := make([]byte, pieceSize)
	for {
		n, err := answer.Body.Read(piece)
		if int64(n) > to.left {
			return errOther
		}
		if n > 0 {
			if _, err := to.Write(piece[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// patient is a connection that gives up when nothing comes.
type patient struct{ net.Conn }

func (p patient) Read(piece []byte) (int, error) {
	if err := p.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return 0, err
	}
	return p.Conn.Read(piece)
}

var dialer = net.Dialer{Timeout: silence}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return patient{connection}, nil
}
