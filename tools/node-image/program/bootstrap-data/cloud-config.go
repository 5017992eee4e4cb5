package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// cloudConfig has what is carried out. The names and meanings are cloud-init's.
type cloudConfig struct {
	Bootcmd    []any         `yaml:"bootcmd"`
	Hostname   string        `yaml:"hostname"`
	FQDN       string        `yaml:"fqdn"`
	WriteFiles []writtenFile `yaml:"write_files"`
	Users      []any         `yaml:"users"`
	Keys       []string      `yaml:"ssh_authorized_keys"`
	NTP        struct {
		Enabled *bool    `yaml:"enabled"`
		Servers []string `yaml:"servers"`
		Pools   []string `yaml:"pools"`
	} `yaml:"ntp"`
	Runcmd []any          `yaml:"runcmd"`
	Others map[string]any `yaml:",inline"`
}

type writtenFile struct {
	Path        string `yaml:"path"`
	Content     string `yaml:"content"`
	Owner       string `yaml:"owner"`
	Permissions any    `yaml:"permissions"`
	Encoding    string `yaml:"encoding"`
	Append      bool   `yaml:"append"`
	Defer       bool   `yaml:"defer"`
}

// harmless are keys that change nothing on a node that lives in memory, or only what is shown.
var harmless = []string{"final_message", "output", "preserve_hostname", "manage_etc_hosts", "package_update", "package_upgrade", "merge_how", "ssh_pwauth", "disable_root"}

func (n node) configure(text []byte) error {
	var config cloudConfig
	if err := yaml.Unmarshal(text, &config); err != nil {
		return fmt.Errorf("the cloud-config can't be read: %w", err)
	}
	for name := range config.Others {
		if !slices.Contains(harmless, name) {
			say("%s: not known here, left alone", name)
		}
	}
	if len(config.Bootcmd) > 0 {
		if err := n.commands("bootcmd", config.Bootcmd); err != nil {
			say("%v", err)
		}
	}
	if name := strings.Split(first(config.Hostname, config.FQDN), ".")[0]; name != "" {
		n.setHostname(name)
	}
	if err := n.writeFiles(config.WriteFiles, false); err != nil {
		return err
	}
	if err := n.addUsers(config); err != nil {
		return err
	}
	n.keepTime(append(config.NTP.Servers, config.NTP.Pools...), config.NTP.Enabled)
	if err := n.writeFiles(config.WriteFiles, true); err != nil {
		return err
	}
	if len(config.Runcmd) == 0 {
		return nil
	}
	return n.commands("runcmd", config.Runcmd)
}

// commands runs a list as one script of a shell, as cloud-init does: the last command's end is the script's.
func (n node) commands(called string, list []any) error {
	lines := []string{"#!/bin/sh"}
	for at, each := range list {
		switch command := each.(type) {
		case nil:
		case string:
			lines = append(lines, command)
		case []any:
			words := []string{}
			for _, word := range command {
				words = append(words, quoted(fmt.Sprint(word)))
			}
			lines = append(lines, strings.Join(words, " "))
		default:
			return fmt.Errorf("%s[%d]: a text or a list was expected", called, at)
		}
	}
	return n.script(called, strings.Join(lines, "\n")+"\n")
}

func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

func (n node) writeFiles(files []writtenFile, deferred bool) error {
	for _, each := range files {
		if each.Defer != deferred {
			continue
		}
		if err := n.writeFile(each); err != nil {
			return fmt.Errorf("write_files %s: %w", each.Path, err)
		}
	}
	return nil
}

func (n node) writeFile(each writtenFile) error {
	content, err := decoded(each.Content, each.Encoding)
	if err != nil {
		return err
	}
	mode, err := modeOf(each.Permissions)
	if err != nil {
		return err
	}
	file := n.path(each.Path)
	if each.Append {
		before, _ := os.ReadFile(file)
		content = append(before, content...)
	}
	if err := write(file, content, mode); err != nil {
		return err
	}
	if each.Owner == "" || each.Owner == "root:root" || each.Owner == "root" || n.root != "/" {
		return nil
	}
	said, err := exec.Command("chown", each.Owner, file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("chown: %s", strings.TrimSpace(string(said)))
	}
	return nil
}

func decoded(content, encoding string) ([]byte, error) {
	switch encoding {
	case "", "text/plain":
		return []byte(content), nil
	case "b64", "base64":
		return base64Bytes(content)
	case "gz", "gzip":
		return unpacked([]byte(content))
	case "gz+b64", "gz+base64", "gzip+b64", "gzip+base64":
		packed, err := base64Bytes(content)
		if err != nil {
			return nil, err
		}
		return unpacked(packed)
	}
	return nil, fmt.Errorf("encoding %q is not known", encoding)
}

func base64Bytes(text string) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
}

// modeOf reads '0644' and 0644 alike: YAML makes a number of the second, 420 or 644 by its version.
func modeOf(given any) (os.FileMode, error) {
	switch value := given.(type) {
	case nil:
		return 0o644, nil
	case int:
		return os.FileMode(value), nil
	case string:
		mode, err := strconv.ParseUint(strings.TrimPrefix(value, "0o"), 8, 12)
		return os.FileMode(mode), err
	}
	return 0, fmt.Errorf("permissions %v are none", given)
}

func (n node) setHostname(name string) {
	if err := write(n.path("/etc/hostname"), []byte(name+"\n"), 0o644); err != nil {
		say("%v", err)
	}
	hosts := "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.1.1 " + name + "\n"
	if err := write(n.path("/etc/hosts"), []byte(hosts), 0o644); err != nil {
		say("%v", err)
	}
	if n.root == "/" {
		if said, err := exec.Command("hostname", name).CombinedOutput(); err != nil {
			say("hostname %s: %s", name, said)
		}
	}
}

// keepTime writes what busybox's ntpd goes by, which the init starts when the file is there.
func (n node) keepTime(servers []string, enabled *bool) {
	if enabled != nil && !*enabled || len(servers) == 0 {
		return
	}
	lines := ""
	for _, server := range servers {
		lines += "server " + server + "\n"
	}
	if err := write(n.path("/etc/ntp.conf"), []byte(lines), 0o644); err != nil {
		say("%v", err)
	}
	if n.root == "/" {
		if said, err := exec.Command("systemctl", "start", "ntpd").CombinedOutput(); err != nil {
			say("ntp: %s", said)
		}
	}
}

func first(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}

func folderOf(home string) string { return filepath.Join(home, ".ssh") }
