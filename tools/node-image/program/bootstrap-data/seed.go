package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	// The network may come up behind us, and the server with it.
	tries        = 60
	betweenTries = time.Second
	mostBytes    = 16 << 20
)

// Of NoCloud's disks, and of config drives, which BareMetalHosts get.
var seedLabels = []string{"cidata", "config-2"}

// Of a config drive, below its root.
const driveRoot = "openstack/latest"

var errNoSeed = errors.New("no user data")

// seed is what one boot is given.
type seed struct {
	user []byte
	// Flat: the template's names point into it.
	meta map[string]string
}

func readSeed(folder, file, metaFile, commandLine string) (seed, error) {
	if folder != "" {
		return fromFolder(folder)
	}
	if file != "" {
		return fromFiles(file, metaFile)
	}
	words, err := os.ReadFile(commandLine)
	if err != nil {
		return seed{}, err
	}
	for _, word := range strings.Fields(string(words)) {
		if url, found := strings.CutPrefix(word, "slipway.userdata="); found {
			user, err := fetch(url)
			return seed{user: user}, err
		}
		if url := noCloudURL(word); url != "" {
			return fromNoCloud(url)
		}
	}
	return fromDisk()
}

// noCloudURL reads `ds=nocloud;s=URL` and `ds=nocloud-net;s=URL`, as cloud-init does.
func noCloudURL(word string) string {
	source, found := strings.CutPrefix(word, "ds=nocloud")
	if !found {
		return ""
	}
	for _, part := range strings.Split(source, ";")[1:] {
		if url, found := strings.CutPrefix(part, "s="); found && strings.Contains(url, "://") {
			return strings.TrimSuffix(url, "/") + "/"
		}
		if url, found := strings.CutPrefix(part, "seedfrom="); found {
			return strings.TrimSuffix(url, "/") + "/"
		}
	}
	return ""
}

func fromNoCloud(url string) (seed, error) {
	meta, err := fetch(url + "meta-data")
	if err != nil {
		return seed{}, err
	}
	user, err := fetch(url + "user-data")
	return seed{user: user, meta: readMeta(meta)}, err
}

func fromDisk() (seed, error) {
	label, device := seedDevice()
	if device == "" {
		return seed{}, errNoSeed
	}
	folder, err := os.MkdirTemp("", label)
	if err != nil {
		return seed{}, err
	}
	defer os.Remove(folder)
	var said []byte
	for _, kind := range []string{"iso9660", "vfat", "ext4"} {
		if said, err = exec.Command("mount", "-r", "-t", kind, device, folder).CombinedOutput(); err == nil {
			break
		}
	}
	if err != nil {
		return seed{}, fmt.Errorf("%s (label %s) can't be mounted: %s", device, label, strings.TrimSpace(string(said)))
	}
	defer exec.Command("umount", folder).Run()
	return fromFolder(folder)
}

// seedDevice finds the first file system with one of the labels, which some tools write in capitals. Empty: there is none.
func seedDevice() (label, device string) {
	for _, label := range seedLabels {
		for _, written := range []string{label, strings.ToUpper(label)} {
			found, _ := exec.Command("findfs", "LABEL="+written).Output()
			if device := strings.TrimSpace(string(found)); device != "" {
				return label, device
			}
		}
	}
	return "", ""
}

// fromFolder reads a NoCloud disk, or a config drive. A drive may have no user data.
func fromFolder(folder string) (seed, error) {
	drive := filepath.Join(folder, driveRoot)
	if _, err := os.Stat(drive); err != nil {
		return fromFiles(filepath.Join(folder, "user-data"), filepath.Join(folder, "meta-data"))
	}
	found, err := fromFiles(filepath.Join(drive, "user_data"), filepath.Join(drive, "meta_data.json"))
	if errors.Is(err, os.ErrNotExist) {
		return seed{}, errNoSeed
	}
	// As cloud-init names it.
	if id := found.meta["uuid"]; id != "" && found.meta["instance_id"] == "" {
		found.meta["instance_id"] = id
	}
	return found, err
}

func fromFiles(file, metaFile string) (seed, error) {
	user, err := os.ReadFile(file)
	if err != nil {
		return seed{}, err
	}
	// A seed may have none.
	meta, _ := os.ReadFile(metaFile)
	return seed{user: user, meta: readMeta(meta)}, nil
}

func readMeta(content []byte) map[string]string {
	var all map[string]any
	if err := yaml.Unmarshal(content, &all); err != nil {
		say("meta-data: %v", err)
	}
	meta := map[string]string{}
	for name, value := range all {
		meta[strings.ReplaceAll(name, "-", "_")] = fmt.Sprint(value)
	}
	return meta
}

// fetch asks again until the server answers: what it refuses (4xx) it refuses for good.
func fetch(url string) ([]byte, error) {
	client := http.Client{Timeout: 30 * time.Second}
	var last error
	for range tries {
		content, final, err := fetchOnce(&client, url)
		if err == nil || final {
			return content, err
		}
		last = err
		time.Sleep(betweenTries)
	}
	return nil, last
}

func fetchOnce(client *http.Client, url string) (content []byte, final bool, err error) {
	answer, err := client.Get(url)
	if err != nil {
		return nil, false, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, answer.StatusCode/100 == 4, fmt.Errorf("%s: answered %s", url, answer.Status)
	}
	content, err = io.ReadAll(io.LimitReader(answer.Body, mostBytes))
	return content, false, err
}
