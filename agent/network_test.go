package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	podPart     = "TEST_POD_PART" // a process with this variable is a program of the test's pod: "network" or "agent"
	agentPort   = "9110"
	serverPort  = "9042"
	synReceived = " 03 "          // the state of a connection in /proc/net/tcp that the pod has not accepted yet
	podNetworks = "TEST_NETWORKS" // this process is in a network of its own
)

// addresses are the pod's addresses, with the other end of its link.
var addresses = map[string]string{"10.9.0.2": "10.9.0.1/24", "fd00:9::2": "fd00:9::1/64"}

// runPart runs a program of the test's pod.
func runPart(part string) int {
	if part == "network" {
		return runNetwork(agentPort)
	}
	return run([]string{"/proc/self/exe"})
}

// TestPartition runs once more in a network of its own, where it makes a pod: a network with an agent and its server, behind a link.
func TestPartition(t *testing.T) {
	if os.Getenv(podNetworks) != "" {
		testPartition(t)
		return
	}
	for _, tool := range []string{"ip", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	inner := exec.Command("/proc/self/exe", "-test.run=^TestPartition$", "-test.v")
	inner.Env = append(os.Environ(), podNetworks+"=yes")
	inner.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
	output, err := inner.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		t.Skipf("this machine gives no user namespace: %v", err)
	}
	if strings.Contains(string(output), "--- SKIP: TestPartition") {
		t.Skip(string(output))
	}
	if err != nil || !strings.Contains(string(output), "--- PASS: TestPartition") {
		t.Errorf("%v: %s", err, output)
	}
}

func testPartition(t *testing.T) {
	// A killed agent leaves its server behind.
	syscall.RawSyscall6(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0, 0, 0, 0)
	t.Cleanup(func() { signalAll(descendants(os.Getpid()), syscall.SIGKILL) })
	// A network lives as long as a process in it: the agent and `agent network` end in this test.
	holder := start(t, exec.Command("sleep", "60"), syscall.CLONE_NEWNET)
	enter := []string{"nsenter", "--net=/proc/" + strconv.Itoa(holder.Process.Pid) + "/ns/net"}
	inPod := func(command ...string) *exec.Cmd { return exec.Command(enter[0], append(enter[1:], command...)...) }
	link := exec.Command("ip", "link", "add", "world", "type", "veth", "peer", "name", "pod", "netns", strconv.Itoa(holder.Process.Pid))
	if output, err := link.CombinedOutput(); err != nil {
		t.Skipf("this machine gives no link between two networks: %v: %s", err, output)
	}
	families := []string{"-4", "-6"}
	if _, err := os.Stat("/proc/net/if_inet6"); err != nil {
		families = families[:1] // the kernel has no IPv6
		delete(addresses, "fd00:9::2")
	}
	call(t, exec.Command("ip", "link", "set", "world", "up"))
	call(t, inPod("ip", "link", "set", "lo", "up"))
	call(t, inPod("ip", "link", "set", "pod", "up"))
	for pod, world := range addresses {
		call(t, exec.Command("ip", "address", "add", world, "dev", "world", "nodad"))
		call(t, inPod("ip", "address", "add", pod+world[strings.Index(world, "/"):], "dev", "pod", "nodad"))
	}
	rules := func() (all string) {
		for _, family := range families {
			all += call(t, inPod("ip", family, "rule"))
		}
		return all
	}
	before := rules()

	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	agent := inPod(program)
	gate := filepath.Join(t.TempDir(), "gate")
	rewrite(t, filepath.Dir(gate), map[string]string{"gate": ""})
	agent.Env = []string{podPart + "=agent", prefix + "TOKEN=" + testToken, prefix + "READY=tcp:" + serverPort, serverAddress + "=:" + serverPort,
		serverData + "=" + filepath.Join(t.TempDir(), "segment"), serverGate + "=" + gate}
	start(t, agent, 0)
	wait(t, "the server answers", func() bool { return len(reached(serverPort)) == len(addresses) })
	if answer := cutFor(3600); !strings.Contains(answer, "add a container that runs `agent network`") {
		t.Errorf("without `agent network`, the answer is %s", answer)
	}
	network := func() *exec.Cmd {
		started := inPod(program)
		started.Env = []string{podPart + "=network"}
		start(t, started, 0)
		wait(t, "`agent network` listens", func() bool { return strings.Contains(call(t, inPod("cat", "/proc/net/unix")), networkSocket) })
		return started
	}
	first := network()

	var open []net.Conn
	for pod := range addresses {
		one, err := net.Dial("tcp", net.JoinHostPort(pod, serverPort))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, one)
		if !answers(one, 10*time.Second) {
			t.Errorf("the server does not answer at %s", pod)
		}
	}
	answer := make(chan string)
	isCut := func() bool { return len(reached(serverPort)) == 0 }
	isWhole := func() bool { return rules() == before && len(reached(serverPort)) == len(addresses) }

	go func() { answer <- cutFor(2) }()
	wait(t, "the server is cut off", isCut)
	for _, one := range open {
		if answers(one, 100*time.Millisecond) {
			t.Errorf("the server answers at the open connection to %s", one.RemoteAddr())
		}
	}
	if sockets := call(t, inPod("sh", "-c", "cat /proc/net/tcp*")); strings.Contains(sockets, synReceived) {
		t.Errorf("a request for a connection has reached the pod: %s", sockets)
	}
	if found := reached(agentPort); len(found) != len(addresses) {
		t.Errorf("the agent answers at %v during the partition, expected all addresses", found)
	}
	var moments caused
	if err := json.Unmarshal([]byte(<-answer), &moments); err != nil || moments.EndedAfter < moments.BeganAfter+2 {
		t.Errorf("the answer is %+v with the error %v, expected a partition of 2 s", moments, err)
	}
	if !isWhole() {
		t.Errorf("the rules after the partition are %s, expected %s", rules(), before)
	}
	for _, one := range open {
		if !answers(one, 20*time.Second) {
			t.Errorf("the connection to %s is lost", one.RemoteAddr())
		}
	}

	go func() { answer <- cutFor(3600) }()
	wait(t, "the server is cut off again", isCut)
	first.Process.Kill()
	if found := <-answer; !strings.Contains(found, "the pod's network cannot be changed") {
		t.Errorf("when `agent network` is killed, the answer is %s", found)
	}
	if rules() == before {
		t.Error("the killed program has left no rule behind")
	}
	second := network()
	wait(t, "the next `agent network` has reconnected the pod", isWhole)

	go cutFor(3600)
	wait(t, "the server is cut off a third time", isCut)
	second.Process.Signal(syscall.SIGTERM)
	second.Wait()
	wait(t, "`agent network` has reconnected the pod at its end", isWhole)

	network()
	go cutFor(3600)
	wait(t, "the server is cut off a fourth time", isCut)
	agent.Process.Kill()
	wait(t, "the pod is reconnected after the agent's end", func() bool { return rules() == before })
}

func start(t *testing.T, command *exec.Cmd, namespaces uintptr) *exec.Cmd {
	t.Helper()
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return command
}

func call(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", command, err, output)
	}
	return string(output)
}

// reached returns the pod's addresses that accept a connection at a port.
func reached(port string) (found []string) {
	for pod := range addresses {
		if one, err := net.DialTimeout("tcp", net.JoinHostPort(pod, port), 100*time.Millisecond); err == nil {
			one.Close()
			found = append(found, pod)
		}
	}
	return found
}

// answers returns whether the server answers a request at an open connection in time.
func answers(connection net.Conn, within time.Duration) bool {
	fmt.Fprintf(connection, "GET / HTTP/1.1\r\nHost: test\r\n\r\n")
	connection.SetReadDeadline(time.Now().Add(within))
	count, err := connection.Read(make([]byte, 4096))
	return err == nil && count > 0
}

// cutFor asks the pod's agent for a partition of this many seconds, and returns the agent's answer.
func cutFor(seconds int) string {
	body := fmt.Sprintf(`{"fault": "partition", "for_s": %d}`, seconds)
	request, err := http.NewRequest("POST", "http://10.9.0.2:"+agentPort+"/v1/fault", bytes.NewBufferString(body))
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Authorization", "Bearer "+testToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return string(text)
}
