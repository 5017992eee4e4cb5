package main

import (
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
)

// settle writes a database anew, in the order of its keys and with one time in the place of all: the same contents give the same bytes.
func settle(path string) error {
	from, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	fresh := path + ".new"
	to, err := bolt.Open(fresh, 0o600, nil)
	if err != nil {
		return err
	}
	to.NoSync = true
	err = from.View(func(reading *bolt.Tx) error {
		return reading.ForEach(func(name []byte, bucket *bolt.Bucket) error {
			return copyBucket(to, [][]byte{name}, bucket)
		})
	})
	if err != nil {
		return err
	}
	if err := to.Sync(); err != nil {
		return err
	}
	if err := to.Close(); err != nil {
		return err
	}
	if err := from.Close(); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

// copyBucket writes one bucket, then those in it, each by a transaction of its own: bbolt gives the buckets that one transaction
// touches their pages in the order of a Go map, which is another each time.
func copyBucket(to *bolt.DB, path [][]byte, from *bolt.Bucket) error {
	err := to.Update(func(writing *bolt.Tx) error {
		made, err := writing.CreateBucketIfNotExists(path[0])
		for _, name := range path[1:] {
			if err == nil {
				made, err = made.CreateBucketIfNotExists(name)
			}
		}
		if err != nil {
			return err
		}
		// Ids of what is added later go on from here.
		if err := made.SetSequence(from.Sequence()); err != nil {
			return err
		}
		return from.ForEach(func(key, value []byte) error {
			if value == nil {
				return nil
			}
			return put(made, key, value)
		})
	})
	if err != nil {
		return err
	}
	return from.ForEach(func(key, value []byte) error {
		if value != nil {
			return nil
		}
		inner := append(append([][]byte{}, path...), append([]byte{}, key...))
		return copyBucket(to, inner, from.Bucket(key))
	})
}

// put writes a value; of times, always the same.
func put(to *bolt.Bucket, key, value []byte) error {
	if name := string(key); name == "createdat" || name == "updatedat" {
		fixed, err := time.Unix(0, 0).UTC().MarshalBinary()
		if err != nil {
			return err
		}
		value = fixed
	}
	return to.Put(key, value)
}
