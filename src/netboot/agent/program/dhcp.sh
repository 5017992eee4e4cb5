#!/bin/sh
# What udhcpc calls with its news: `interface`, `ip`, `mask`, `router` and `dns` are in the environment.
set -u
case $1 in
    deconfig)
        ip -4 address flush dev "$interface"
        ;;
    bound | renew)
        ip -4 address replace "$ip/${mask:-24}" dev "$interface"
        for one in ${router:-}; do
            ip route replace default via "$one" dev "$interface"
            break
        done
        for one in ${dns:-}; do echo "nameserver $one"; done >/etc/resolv.conf
        # In one step, since the agent waits for this file.
        echo "$interface $ip" >"/run/slipway/lease.$interface"
        [ -e /run/slipway/lease ] || mv "/run/slipway/lease.$interface" /run/slipway/lease
        ;;
esac
