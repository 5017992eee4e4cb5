#!/bin/sh
# What udhcpc calls with its news: `interface`, `ip`, `mask`, `router` and `dns` are in the environment. `BESIDE`: of a further card, for as
# long as it is asked by; the machine goes on as before.
set -u
case $1 in
    deconfig)
        ip -4 address flush dev "$interface"
        ;;
    bound | renew)
        ip -4 address replace "$ip/${mask:-24}" dev "$interface"
        for one in ${router:-}; do
            # Behind the machine's own route, and taken by what is bound to this card only.
            ip route replace default via "$one" dev "$interface" ${BESIDE:+metric 1000}
            break
        done
        [ -z "${BESIDE:-}" ] || exit 0
        for one in ${dns:-}; do echo "nameserver $one"; done >/etc/resolv.conf
        # In one step, since the agent waits for this file.
        echo "$interface $ip" >"/run/slipway/lease.$interface"
        [ -e /run/slipway/lease ] || mv "/run/slipway/lease.$interface" /run/slipway/lease
        ;;
esac
