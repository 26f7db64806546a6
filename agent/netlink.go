package main

import (
	"net"
	"syscall"

	"github.com/vishvananda/netlink"
)

// rule says which packets the kernel routes by which table. A rule with a lower priority number comes first. The zero value of a
// field below `origin` matches all packets. A rule without a table drops the packets.
type rule struct {
	priority, table int
	origin          byte // such as RTPROT_KERNEL
	local           bool // packets of local programs
	protocol        byte // of IP, such as IPPROTO_TCP
	source, target  int  // port
}

// add adds the rule to the network namespace of this process, for a family of addresses such as AF_INET.
func (r rule) add(family byte) error { return netlink.RuleAdd(r.of(family)) }

func (r rule) remove(family byte) error { return netlink.RuleDel(r.of(family)) }

// of returns the library's rule.
func (r rule) of(family byte) *netlink.Rule {
	found := netlink.NewRule()
	found.Family, found.Priority, found.Protocol, found.IPProto = int(family), r.priority, r.origin, int(r.protocol)
	if r.table == 0 {
		found.Type = syscall.RTN_BLACKHOLE // the kernel drops the packet, without an answer to the sender
	} else {
		found.Table = r.table
	}
	if r.local {
		found.IifName = "lo" // also matches packets of local programs
	}
	if r.source != 0 {
		found.Sport = netlink.NewRulePortRange(uint16(r.source), uint16(r.source))
	}
	if r.target != 0 {
		found.Dport = netlink.NewRulePortRange(uint16(r.target), uint16(r.target))
	}
	return found
}

// discardRoute returns a route of IPv4 in a table: the kernel silently discards packets to all addresses. A route of the
// kind "blackhole" would let a program that connects fail at once, but a packet that is lost on its way does not.
func discardRoute(table int) (*netlink.Route, error) {
	loopback, err := net.InterfaceByName("lo")
	if err != nil {
		return nil, err
	}
	return &netlink.Route{LinkIndex: loopback.Index, Scope: netlink.SCOPE_LINK, Table: table, Protocol: syscall.RTPROT_STATIC,
		Dst: &net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}}, nil
}
