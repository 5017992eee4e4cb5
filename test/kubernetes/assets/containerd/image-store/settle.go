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
	err = to.Update(func(writing *bolt.Tx) error {
		return from.View(func(reading *bolt.Tx) error {
			return reading.ForEach(func(name []byte, bucket *bolt.Bucket) error {
				made, err := writing.CreateBucket(name)
				if err != nil {
					return err
				}
				return copyBucket(made, bucket)
			})
		})
	})
	if err != nil {
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

func copyBucket(to, from *bolt.Bucket) error {
	// Ids of what is added later go on from here.
	if err := to.SetSequence(from.Sequence()); err != nil {
		return err
	}
	return from.ForEach(func(key, value []byte) error {
		if value == nil {
			made, err := to.CreateBucket(key)
			if err != nil {
				return err
			}
			return copyBucket(made, from.Bucket(key))
		}
		if name := string(key); name == "createdat" || name == "updatedat" {
			fixed, err := time.Unix(0, 0).UTC().MarshalBinary()
			if err != nil {
				return err
			}
			return to.Put(key, fixed)
		}
		return to.Put(key, value)
	})
}
