package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
)

const (
	// An abstract socket: only programs of the same pod can connect, and no file remains.
	networkSocket     = "@storebench-network"
	networkWithin     = 10 * time.Second // for the answer of `agent network`
	cutPriority       = 100              // of the first rule of a partition
	cutTable          = 9110             // of the route that discards packets
	localTable        = 255              // the kernel's own tables
	mainTable         = 254
	answerCut         = "cut"
	answerReconnected = "reconnected"
)

var families = []byte{syscall.AF_INET, syscall.AF_INET6}

// ownAddresses is the kernel's first rule, by which packets for the pod arrive. A partition replaces it by a later one.
var ownAddresses = rule{priority: 0, table: localTable, origin: syscall.RTPROT_KERNEL}

// cutRules returns the rules of a partition. By `kept`, local programs reach each other, all others reach the agent's port, and other packets
// are routed as before. By `dropped`, packets of TCP and UDP that `kept` does not name neither arrive nor leave. Packets that find the pod in
// its network (ARP, ICMPv6) still do: the agent must stay reachable.
func cutRules(family byte, port int) (kept, dropped []rule) {
	kept = []rule{
		{priority: cutPriority, table: localTable, local: true},
		{priority: cutPriority + 1, table: localTable, protocol: syscall.IPPROTO_TCP, target: port},
		{priority: cutPriority + 2, table: mainTable, protocol: syscall.IPPROTO_TCP, source: port},
		{priority: cutPriority + 5, table: localTable},
	}
	table := 0
	if family == syscall.AF_INET {
		table = cutTable
	}
	return kept, []rule{
		{priority: cutPriority + 3, table: table, protocol: syscall.IPPROTO_TCP},
		{priority: cutPriority + 4, table: table, protocol: syscall.IPPROTO_UDP},
	}
}

// cut cuts this network namespace off from all others, except for the agent's port. After an error, no rule remains.
func cut(port int) error {
	discard, err := discardRoute(cutTable)
	if err == nil {
		err = netlink.RouteReplace(discard)
	}
	for _, family := range families {
		if err == nil {
			err = cutFamily(family, port)
		}
	}
	if err == nil {
		return nil
	}
	return firstError(fmt.Errorf("the rules of routing cannot be changed: %w", err), reconnect(port))
}

func cutFamily(family byte, port int) error {
	kept, dropped := cutRules(family, port)
	for _, one := range kept {
		if err := one.add(family); family == syscall.AF_INET6 && errors.Is(err, syscall.EAFNOSUPPORT) {
			return nil // the kernel has no IPv6
		} else if err != nil {
			return err
		}
	}
	// Until now nothing has changed for any packet, and each of the last rules stops both directions at once.
	if err := ownAddresses.remove(family); err != nil {
		return err
	}
	for _, one := range dropped {
		if err := one.add(family); err != nil {
			return err
		}
	}
	return nil
}

// reconnect removes the rules of a partition, also if only some of them exist.
func reconnect(port int) error {
	var failed error
	unless := func(harmless syscall.Errno, err error) {
		if !errors.Is(err, harmless) && !errors.Is(err, syscall.EAFNOSUPPORT) {
			failed = firstError(failed, err)
		}
	}
	for _, family := range families {
		kept, dropped := cutRules(family, port)
		for _, one := range dropped {
			unless(syscall.ENOENT, one.remove(family))
		}
		unless(syscall.EEXIST, ownAddresses.add(family))
		for _, one := range kept {
			unless(syscall.ENOENT, one.remove(family))
		}
	}
	discard, err := discardRoute(cutTable)
	if err == nil {
		err = netlink.RouteDel(discard)
	}
	unless(syscall.ESRCH, err)
	if failed != nil {
		return fmt.Errorf("the rules of routing cannot be restored: %w", failed)
	}
	return nil
}

// runNetwork is the program of the container that may change the pod's network. It serves the agent of the server's container: it cuts the
// pod off for as long as the agent holds a connection to it.
func runNetwork(agentPort string) int {
	port, err := parsePort(agentPort)
	if err == nil {
		err = reconnect(port) // a killed program leaves its rules behind
	}
	if err != nil {
		say("%v", err)
		return exitBadInput
	}
	listener, err := net.Listen("unix", networkSocket)
	if err != nil {
		say("cannot listen: %v", err)
		return exitBadInput
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	over := make(chan struct{})
	go func() {
		<-signals
		close(over)
		listener.Close()
	}()
	for {
		client, err := listener.Accept()
		if err != nil {
			return 0
		}
		hold(client, port, over)
	}
}

// hold cuts the pod off until the client closes its side of the connection, or until the program is told to end.
func hold(client net.Conn, port int, over <-chan struct{}) {
	defer client.Close()
	if err := cut(port); err != nil {
		fmt.Fprintln(client, err)
		return
	}
	fmt.Fprintln(client, answerCut)
	left := make(chan struct{})
	go func() {
		io.Copy(io.Discard, client)
		close(left)
	}()
	select {
	case <-left:
	case <-over:
	}
	if err := reconnect(port); err != nil {
		say("%v", err)
		fmt.Fprintln(client, err)
		return
	}
	fmt.Fprintln(client, answerReconnected)
}

// partition cuts the pod off from all others, and reconnects it when the fault's time is over or the container gets TERM. If this agent ends, the
// kernel closes its connection, and the program at the other end reconnects the pod.
func (a *api) partition(asked fault) (done effect, err error) {
	if _, err = a.server.running(); err != nil {
		return done, err
	}
	network, err := net.DialTimeout("unix", networkSocket, networkWithin)
	if err != nil {
		return done, conflict("no program may change the pod's network",
			fmt.Sprintf("%v: add a container that runs `agent network` as root, with the capability NET_ADMIN", err))
	}
	defer network.Close()
	answers := bufio.NewReader(network)
	network.SetReadDeadline(time.Now().Add(networkWithin))
	if err = expect(answers, answerCut); err != nil {
		return done, err
	}
	done.began = time.Now()
	network.SetReadDeadline(time.Time{})
	reconnected := make(chan error, 1)
	go func() { reconnected <- expect(answers, answerReconnected) }()
	timer := time.NewTimer(asked.duration())
	defer timer.Stop()
	select {
	case err = <-reconnected:
		return done, firstError(err, failure("the partition has ended early", "the program `agent network` was told to end"))
	case <-a.server.leaving:
	case <-timer.C:
	}
	network.SetReadDeadline(time.Now().Add(networkWithin))
	network.(*net.UnixConn).CloseWrite()
	err = <-reconnected
	done.ended = time.Now()
	return done, err
}

// expect reads an answer of `agent network`, and fails for any other answer.
func expect(answers *bufio.Reader, wanted string) error {
	answer, err := answers.ReadString('\n')
	if answer = strings.TrimSpace(answer); answer == wanted {
		return nil
	}
	if answer == "" {
		answer = err.Error()
	}
	return failure("the pod's network cannot be changed", "%s: see the log of the container that runs `agent network`", answer)
}
