package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"go.yaml.in/yaml/v3"
)

type user struct {
	Name   string   `yaml:"name"`
	Gecos  string   `yaml:"gecos"`
	Home   string   `yaml:"homedir"`
	Shell  string   `yaml:"shell"`
	UID    *int     `yaml:"uid"`
	Groups any      `yaml:"groups"`
	Passwd string   `yaml:"passwd"`
	Lock   *bool    `yaml:"lock_passwd"`
	Sudo   any      `yaml:"sudo"`
	Keys   []string `yaml:"ssh_authorized_keys"`
	System bool     `yaml:"system"`
}

// defaultUser is whom ssh_authorized_keys without a user let in.
const defaultUser = "root"

// addUsers makes the users that are missing and lets them in by their keys. There is no sudo on the node: who may use it is root's equal.
func (n node) addUsers(config cloudConfig) error {
	for _, each := range config.Users {
		if _, isName := each.(string); isName {
			// "default" has no meaning without a distribution.
			continue
		}
		var one user
		text, err := yaml.Marshal(each)
		if err == nil {
			err = yaml.Unmarshal(text, &one)
		}
		if err == nil {
			err = n.addUser(one)
		}
		if err != nil {
			return fmt.Errorf("users: %s: %w", one.Name, err)
		}
	}
	if len(config.Keys) == 0 {
		return nil
	}
	return n.addKeys(defaultUser, "/root", config.Keys)
}

func (n node) addUser(one user) error {
	if one.Name == "" || strings.ContainsAny(one.Name, ":/\n ") {
		return fmt.Errorf("%q is no name", one.Name)
	}
	passwd, err := os.ReadFile(n.path("/etc/passwd"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	home := first(one.Home, "/home/"+one.Name)
	if one.Name == defaultUser {
		home = "/root"
	}
	if !strings.Contains("\n"+string(passwd), "\n"+one.Name+":") {
		id := 1000 + strings.Count(string(passwd), "\n")
		if one.UID != nil {
			id = *one.UID
		}
		lines := map[string]string{
			"/etc/passwd": fmt.Sprintf("%s:x:%d:%d:%s:%s:%s\n", one.Name, id, id, one.Gecos, home, first(one.Shell, "/bin/sh")),
			"/etc/group":  fmt.Sprintf("%s:x:%d:\n", one.Name, id),
			// Without a password it is by keys alone.
			"/etc/shadow": fmt.Sprintf("%s:%s:19000:0:99999:7:::\n", one.Name, first(one.Passwd, "*")),
		}
		for file, line := range lines {
			before, _ := os.ReadFile(n.path(file))
			if err := write(n.path(file), append(before, line...), modeOfFile(file)); err != nil {
				return err
			}
		}
		if err := os.MkdirAll(n.path(home), 0o755); err != nil {
			return err
		}
		n.own(one.Name, home)
	}
	if one.Sudo != nil {
		say("users: %s: there is no sudo on this node", one.Name)
	}
	if len(one.Keys) == 0 {
		return nil
	}
	return n.addKeys(one.Name, home, one.Keys)
}

func modeOfFile(file string) os.FileMode {
	if file == "/etc/shadow" {
		return 0o600
	}
	return 0o644
}

func (n node) addKeys(name, home string, keys []string) error {
	file := n.path(folderOf(home)) + "/authorized_keys"
	before, _ := os.ReadFile(file)
	text := append(before, strings.Join(keys, "\n")+"\n"...)
	if err := write(file, text, 0o600); err != nil {
		return err
	}
	if err := os.Chmod(n.path(folderOf(home)), 0o700); err != nil {
		return err
	}
	n.own(name, folderOf(home))
	if n.root != "/" {
		return nil
	}
	if said, err := exec.Command("systemctl", "start", "ssh").CombinedOutput(); err != nil {
		say("ssh: %s", said)
	}
	return nil
}

func (n node) own(name, folder string) {
	if n.root != "/" {
		return
	}
	if said, err := exec.Command("chown", "-R", name+":"+name, folder).CombinedOutput(); err != nil {
		say("chown %s: %s", folder, said)
	}
}
