package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// node is the machine that is set up: the files below root, and, where that is its own, its users and commands.
type node struct{ root string }

func (n node) path(name string) string { return filepath.Join(n.root, name) }

// carryOut does what the user data say. Parts of several go one after the other; the first error ends it.
func (n node) carryOut(given seed) error {
	content, err := unpacked(given.user)
	if err != nil {
		return err
	}
	if name := given.meta["local_hostname"]; name != "" {
		n.setHostname(name)
	}
	if parts, err := partsOf(content); parts != nil || err != nil {
		for _, part := range parts {
			if err == nil {
				err = n.carryOut(seed{user: part, meta: given.meta})
			}
		}
		return err
	}
	text := filled(string(content), given.meta)
	first, _, _ := strings.Cut(text, "\n")
	switch {
	case strings.HasPrefix(first, "#cloud-config"):
		return n.configure([]byte(text))
	case strings.HasPrefix(first, "#!"):
		return n.script("user-data", text)
	case strings.TrimSpace(text) == "":
		return nil
	}
	return fmt.Errorf("the user data begin with %.40q: #cloud-config or #! was expected", first)
}

func unpacked(content []byte) ([]byte, error) {
	if !bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		return content, nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(reader, mostBytes))
}

// partsOf reads a MIME message of several parts; nil for what is none.
func partsOf(content []byte) ([][]byte, error) {
	message, err := mail.ReadMessage(bytes.NewReader(content))
	if err != nil {
		return nil, nil
	}
	kind, values, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(kind, "multipart/") {
		return nil, nil
	}
	parts := [][]byte{}
	for reader := multipart.NewReader(message.Body, values["boundary"]); ; {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return parts, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		if part.Header.Get("Content-Transfer-Encoding") == "base64" {
			if text, err = base64Bytes(string(text)); err != nil {
				return nil, err
			}
		}
		parts = append(parts, text)
	}
}

var (
	template = regexp.MustCompile(`^## template: ?jinja *\n`)
	name     = regexp.MustCompile(`\{\{-? *(?:ds\.meta_data|v1)\.([A-Za-z0-9_]+) *-?\}\}`)
)

// filled puts the meta data into a template of Cluster API: names, and no more of Jinja.
func filled(text string, meta map[string]string) string {
	head := template.FindString(text)
	if head == "" {
		return text
	}
	return name.ReplaceAllStringFunc(text[len(head):], func(found string) string {
		key := name.FindStringSubmatch(found)[1]
		value, known := meta[key]
		if !known && (key == "local_hostname" || key == "hostname") {
			value, _ = os.Hostname()
			known = true
		}
		if !known {
			say("the template asks for %s, which the meta data have not", found)
		}
		return value
	})
}

// script keeps a script where cloud-init would, and runs it by what its first line names.
func (n node) script(called, text string) error {
	file := n.path("/var/lib/cloud/instance/scripts/" + called)
	if err := write(file, []byte(text), 0o700); err != nil {
		return err
	}
	if n.root != "/" {
		return nil
	}
	command := exec.Command(file)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w", called, err)
	}
	return nil
}

func write(file string, content []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, content, mode); err != nil {
		return err
	}
	// Whatever the umask, and the file's mode before.
	return os.Chmod(file, mode)
}
