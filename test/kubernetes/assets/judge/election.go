package main

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const leaseDuration = 3 * time.Second

type electionReport struct {
	// Who led, in order.
	Leaders     []string `json:"leaders"`
	Transitions int32    `json:"transitions"`
	// Whether one led while another still believed that it did.
	Overlap              bool    `json:"overlap"`
	LeaseSeconds         float64 `json:"leaseSeconds"`
	FailOverSeconds      float64 `json:"failOverSeconds"`
	FollowerKnowsLeader  bool    `json:"followerKnowsLeader"`
	ReleasedLeaseIsEmpty bool    `json:"releasedLeaseIsEmpty"`
}

// wholeUpdates lets a candidate resign between two updates only. client-go gives a lease back by the version that it last saw: a renewal
// that is cancelled on its way, and reaches the server all the same, makes it keep the lease.
type wholeUpdates struct {
	resourcelock.Interface
	sync.Mutex
}

func (lock *wholeUpdates) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	lock.Lock()
	defer lock.Unlock()
	return lock.Interface.Update(ctx, record)
}

// watchElection lets two candidates stand, kills the leader without a word, and lets its successor resign in order.
func watchElection(ctx context.Context, client kubernetes.Interface, namespace string) (seen electionReport, err error) {
	var mutex sync.Mutex
	leading := map[string]bool{}
	known := map[string]string{}
	leads := func(name string) func() bool {
		return func() bool { mutex.Lock(); defer mutex.Unlock(); return leading[name] }
	}
	stand := func(name string, release bool) (cancel func(), done <-chan struct{}, err error) {
		running, stop := context.WithCancel(ctx)
		lock := &wholeUpdates{Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "judge", Namespace: namespace},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		}}
		cancel = func() { lock.Lock(); defer lock.Unlock(); stop() }
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock:          lock,
			LeaseDuration: leaseDuration, RenewDeadline: 2 * time.Second, RetryPeriod: 300 * time.Millisecond,
			ReleaseOnCancel: release,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) {
					mutex.Lock()
					defer mutex.Unlock()
					for _, other := range leading {
						seen.Overlap = seen.Overlap || other
					}
					leading[name] = true
					seen.Leaders = append(seen.Leaders, name)
				},
				OnStoppedLeading: func() { mutex.Lock(); defer mutex.Unlock(); leading[name] = false },
				OnNewLeader:      func(leader string) { mutex.Lock(); defer mutex.Unlock(); known[name] = leader },
			},
		})
		if err != nil {
			cancel()
			return nil, nil, err
		}
		ended := make(chan struct{})
		go func() { elector.Run(running); close(ended) }()
		return cancel, ended, nil
	}

	killFirst, firstDone, err := stand("first", false)
	if err != nil {
		return seen, err
	}
	defer killFirst()
	if err := eventually(ctx, "the first candidate leads", leads("first")); err != nil {
		return seen, err
	}
	resign, secondDone, err := stand("second", true)
	if err != nil {
		return seen, err
	}
	defer resign()
	err = eventually(ctx, "the second candidate knows the leader", func() bool { mutex.Lock(); defer mutex.Unlock(); return known["second"] == "first" })
	if err != nil {
		return seen, err
	}
	seen.FollowerKnowsLeader = true
	killFirst()
	<-firstDone
	killed := time.Now()
	if err := eventually(ctx, "the second candidate leads", leads("second")); err != nil {
		return seen, err
	}
	seen.FailOverSeconds, seen.LeaseSeconds = time.Since(killed).Seconds(), leaseDuration.Seconds()
	resign()
	<-secondDone
	lease, err := client.CoordinationV1().Leases(namespace).Get(ctx, "judge", metav1.GetOptions{})
	if err != nil {
		return seen, err
	}
	seen.ReleasedLeaseIsEmpty = lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == ""
	if lease.Spec.LeaseTransitions != nil {
		seen.Transitions = *lease.Spec.LeaseTransitions
	}
	return seen, nil
}
