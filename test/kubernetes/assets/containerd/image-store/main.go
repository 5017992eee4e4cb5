// image-store writes what containerd keeps of images: their manifests and configurations, their layers as snapshots of overlayfs, and the
// databases that name them. A containerd that finds it at its start has the images, with nothing to pull, import or unpack.
//
//	image-store STORE <images.json
//
// Images are OCI layouts with one layer each, whose files are moved into the store. The layers' archives are left out: containerd needs
// them no more, as with its own setting discard_unpacked_layers. The same images give the same bytes.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/metadata"
	"github.com/containerd/containerd/v2/core/snapshots"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/plugins/content/local"
	"github.com/containerd/containerd/v2/plugins/snapshots/overlay"
	"github.com/opencontainers/image-spec/identity"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	bolt "go.etcd.io/bbolt"
)

const snapshotter = "overlayfs"

// image is one of those to write.
type image struct {
	// Name is what Pods ask for.
	Name string `json:"name"`
	// Layout is the folder of its OCI layout.
	Layout string `json:"layout"`
	// Root is the folder with the files of its layer.
	Root string `json:"root"`
	// Pinned images are never removed to make room.
	Pinned bool `json:"pinned"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: image-store STORE <images.json")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "image-store:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	var all []image
	if err := json.NewDecoder(os.Stdin).Decode(&all); err != nil {
		return err
	}
	// Where containerd's plugins of these names look.
	contents := filepath.Join(folder, "io.containerd.content.v1.content")
	layers := filepath.Join(folder, "io.containerd.snapshotter.v1."+snapshotter)
	names := filepath.Join(folder, "io.containerd.metadata.v1.bolt", "meta.db")
	if err := os.MkdirAll(filepath.Dir(names), 0o700); err != nil {
		return err
	}
	blobs, err := local.NewStore(contents)
	if err != nil {
		return err
	}
	overlays, err := overlay.NewSnapshotter(layers)
	if err != nil {
		return err
	}
	file, err := bolt.Open(names, 0o644, nil)
	if err != nil {
		return err
	}
	db := metadata.NewDB(file, blobs, map[string]snapshots.Snapshotter{snapshotter: overlays})
	ctx := namespaces.WithNamespace(context.Background(), "k8s.io")
	if err := db.Init(ctx); err != nil {
		return err
	}
	for _, one := range all {
		if err := add(ctx, db, layers, one); err != nil {
			return fmt.Errorf("%s: %w", one.Name, err)
		}
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := overlays.Close(); err != nil {
		return err
	}
	for _, database := range []string{names, filepath.Join(layers, "metadata.db")} {
		if err := settle(database); err != nil {
			return err
		}
	}
	return nil
}

// add writes an image under its name and, as containerd's CRI does, under its configuration's digest.
func add(ctx context.Context, db *metadata.DB, layers string, one image) error {
	var index ocispec.Index
	if err := read(filepath.Join(one.Layout, "index.json"), &index); err != nil {
		return err
	}
	target := index.Manifests[0]
	var manifest ocispec.Manifest
	if err := read(blobOf(one.Layout, target), &manifest); err != nil {
		return err
	}
	var config ocispec.Image
	if err := read(blobOf(one.Layout, manifest.Config), &config); err != nil {
		return err
	}
	chain := identity.ChainID(config.RootFS.DiffIDs).String()
	if err := addSnapshot(ctx, db.Snapshotter(snapshotter), layers, chain, one.Root); err != nil {
		return err
	}
	refs := map[string]string{"containerd.io/gc.ref.content.config": manifest.Config.Digest.String()}
	if err := addBlob(ctx, db, one.Layout, target, refs); err != nil {
		return err
	}
	refs = map[string]string{"containerd.io/gc.ref.snapshot." + snapshotter: chain}
	if err := addBlob(ctx, db, one.Layout, manifest.Config, refs); err != nil {
		return err
	}
	labels := map[string]string{"io.cri-containerd.image": "managed"}
	if one.Pinned {
		labels["io.cri-containerd.pinned"] = "pinned"
	}
	target.Annotations, target.Platform = nil, nil
	for _, name := range []string{one.Name, manifest.Config.Digest.String()} {
		if _, err := metadata.NewImageStore(db).Create(ctx, images.Image{Name: name, Target: target, Labels: labels}); err != nil {
			return err
		}
	}
	return nil
}

func addBlob(ctx context.Context, db *metadata.DB, layout string, what ocispec.Descriptor, labels map[string]string) error {
	file, err := os.Open(blobOf(layout, what))
	if err != nil {
		return err
	}
	defer file.Close()
	store := db.ContentStore()
	return content.WriteBlob(ctx, store, what.Digest.String(), file, what, content.WithLabels(labels))
}

// addSnapshot makes a folder the files of a snapshot without a parent.
func addSnapshot(ctx context.Context, store snapshots.Snapshotter, layers, name, root string) error {
	const preparing = "preparing"
	mounts, err := store.Prepare(ctx, preparing, "")
	if err != nil {
		return err
	}
	// Without a parent it is this very folder that is mounted.
	files := mounts[0].Source
	if within, err := filepath.Rel(layers, files); err != nil || filepath.Base(within) != "fs" {
		return fmt.Errorf("the snapshot's files are not where they are expected: %s", files)
	}
	if err := os.Remove(files); err != nil {
		return err
	}
	if err := os.Rename(root, files); err != nil {
		return err
	}
	return store.Commit(ctx, name, preparing)
}

func blobOf(layout string, what ocispec.Descriptor) string {
	return filepath.Join(layout, "blobs", what.Digest.Algorithm().String(), what.Digest.Encoded())
}

func read(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
