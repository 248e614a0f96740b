package waitroom

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

var withPort = regexp.MustCompile(`^(?:\[([^\]]*:[^\]]*)\]|([0-9.]+))(?::[0-9]{1,5})?$`)

type networks []netip.Prefix

func newNetworks(texts []string) (networks, error) {
	var list networks
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			address, err := netip.ParseAddr(text)
			if err != nil {
				return nil, fmt.Errorf("waitroom: %q is not a network; write it like 10.0.0.0/8 or 127.0.0.1", text)
			}
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		// ::ffff:10.0.0.0/104 is 10.0.0.0/8.
		if prefix.Addr().Is4In6() && prefix.Bits() >= 96 {
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		}
		list = append(list, prefix)
	}
	return list, nil
}

func (n networks) contain(address netip.Addr) bool {
	for _, network := range n {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// visitor returns the visitor's address: the last one that is not a listed proxy's. If one entry
// is not an address, the whole header is ignored: its author cannot be told from the proxy.
func (n networks) visitor(peer, forwardedFor string) string {
	known, isAddress := address(peer)
	if !isAddress {
		return peer
	}
	if !n.contain(known) {
		return known.String()
	}
	parts := strings.Split(forwardedFor, ",")
	for at := len(parts) - 1; at >= 0; at-- {
		part := strings.TrimSpace(parts[at])
		if part == "" {
			continue
		}
		if match := withPort.FindStringSubmatch(part); match != nil {
			part = match[1] + match[2]
		}
		one, isAddress := address(part)
		if !isAddress {
			break
		}
		if !n.contain(one) {
			return one.String()
		}
	}
	return known.String()
}

// address reads an address, without the zone of fe80::1%eth0: anybody can make one up.
func address(text string) (netip.Addr, bool) {
	made, err := netip.ParseAddr(text)
	return made.WithZone("").Unmap(), err == nil
}
