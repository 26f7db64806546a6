package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"syscall"
)

// Numbers of the kernel's headers linux/fib_rules.h and linux/rtnetlink.h that the package syscall lacks.
const (
	rtmNewRule = 32
	rtmDelRule = 33

	toTable   = 1 // FR_ACT_TO_TBL: the rule names the table of routes to look up
	blackhole = 6 // FR_ACT_BLACKHOLE: the kernel drops the packet, without an answer to the sender

	attrInterface  = 3 // FRA_IIFNAME; "lo" also matches packets of local programs
	attrPriority   = 6
	attrTable      = 15
	attrOrigin     = 21 // FRA_PROTOCOL: who has added the rule
	attrProtocol   = 22 // FRA_IP_PROTO
	attrSourcePort = 23
	attrTargetPort = 24
)

// rule says which packets the kernel routes by which table. A rule with a lower priority number comes first. The zero value of a
// field below `origin` matches all packets. A rule without a table drops the packets.
type rule struct {
	priority, table uint32
	origin          byte // such as RTPROT_KERNEL
	local           bool // packets of local programs
	protocol        byte // of IP, such as IPPROTO_TCP
	source, target  int  // port
}

// add adds the rule to the network namespace of this process, for a family of addresses such as AF_INET.
func (r rule) add(family byte) error {
	return routing(rtmNewRule, syscall.NLM_F_CREATE|syscall.NLM_F_EXCL, r.message(family))
}

func (r rule) remove(family byte) error { return routing(rtmDelRule, 0, r.message(family)) }

func (r rule) message(family byte) []byte {
	action := byte(toTable)
	if r.table == 0 {
		action = blackhole
	}
	message := attribute([]byte{family, 0, 0, 0, 0, 0, 0, action, 0, 0, 0, 0}, attrPriority, number(r.priority))
	if r.table != 0 {
		message = attribute(message, attrTable, number(r.table))
	}
	if r.origin != 0 {
		message = attribute(message, attrOrigin, []byte{r.origin})
	}
	if r.local {
		message = attribute(message, attrInterface, []byte("lo\x00"))
	}
	if r.protocol != 0 {
		message = attribute(message, attrProtocol, []byte{r.protocol})
	}
	for kind, port := range map[uint16]int{attrSourcePort: r.source, attrTargetPort: r.target} {
		if port != 0 {
			both := binary.NativeEndian.AppendUint16(nil, uint16(port))
			message = attribute(message, kind, binary.NativeEndian.AppendUint16(both, uint16(port)))
		}
	}
	return message
}

// discardRoute returns the message for a route of IPv4 in a table: the kernel silently discards packets to all addresses. A route of the
// kind "blackhole" would let a program that connects fail at once, but a packet that is lost on its way does not.
func discardRoute(table uint32) ([]byte, error) {
	loopback, err := net.InterfaceByName("lo")
	if err != nil {
		return nil, err
	}
	message := []byte{syscall.AF_INET, 0, 0, 0, 0, syscall.RTPROT_STATIC, syscall.RT_SCOPE_LINK, syscall.RTN_UNICAST, 0, 0, 0, 0}
	message = attribute(message, syscall.RTA_TABLE, number(table))
	return attribute(message, syscall.RTA_OIF, number(uint32(loopback.Index))), nil
}

func number(value uint32) []byte { return binary.NativeEndian.AppendUint32(nil, value) }

// attribute appends an attribute to a message. Each attribute begins at a multiple of four bytes.
func attribute(message []byte, kind uint16, value []byte) []byte {
	message = binary.NativeEndian.AppendUint16(message, uint16(syscall.SizeofRtAttr+len(value)))
	message = append(binary.NativeEndian.AppendUint16(message, kind), value...)
	return append(message, make([]byte, (4-len(value)%4)%4)...)
}

// routing sends a message about rules or routes to the kernel, and returns the kernel's error (a syscall.Errno).
func routing(kind, flags uint16, message []byte) error {
	socket, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_ROUTE)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer syscall.Close(socket)
	head := binary.NativeEndian.AppendUint32(nil, uint32(syscall.SizeofNlMsghdr+len(message)))
	head = binary.NativeEndian.AppendUint16(head, kind)
	head = binary.NativeEndian.AppendUint16(head, flags|syscall.NLM_F_REQUEST|syscall.NLM_F_ACK)
	head = append(head, make([]byte, 8)...) // no sequence number and no sender: the socket sends one message
	kernel := &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}
	if err := syscall.Sendto(socket, append(head, message...), 0, kernel); err != nil {
		return os.NewSyscallError("sendto", err)
	}
	buffer := make([]byte, os.Getpagesize())
	count, _, err := syscall.Recvfrom(socket, buffer, 0)
	if err != nil {
		return os.NewSyscallError("recvfrom", err)
	}
	answers, err := syscall.ParseNetlinkMessage(buffer[:count])
	if err != nil {
		return err
	}
	for _, answer := range answers {
		if answer.Header.Type == syscall.NLMSG_ERROR && len(answer.Data) >= 4 {
			if code := int32(binary.NativeEndian.Uint32(answer.Data)); code != 0 {
				return syscall.Errno(-code)
			}
			return nil
		}
	}
	return fmt.Errorf("the kernel's answer has no result")
}
