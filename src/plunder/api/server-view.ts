/** Netboot's settings as plunder's clients read a server's configuration. */
import { isDeepStrictEqual } from "node:util";
import { formatIp, netmask, parseCidr, tryParseIp } from "@slipway/base";
import type { NetbootSettings } from "../../netboot/settings.ts";
import type { BootConfig } from "../files/boot-config.ts";
import type { ServerConfig } from "../files/server-config.ts";

/** The first network, and its first range: the original has one of each. */
export function configOf(
  { interface: adapter, dhcp, tftp }: NetbootSettings,
  address: string,
  bootConfigs: readonly BootConfig[],
): ServerConfig {
  const [subnet] = dhcp.subnets;
  const [pool] = subnet?.pools ?? [];
  return {
    ...(adapter !== undefined && { adapter }),
    enableDHCP: dhcp.mode !== "off",
    ...(subnet !== undefined && {
      dhcpConfig: {
        addressDHCP: address,
        ...(pool !== undefined && { startDHCP: pool.first, leasePoolDHCP: sizeOf(pool) }),
        subnetDHCP: netmask(parseCidr(subnet.network).prefix),
        ...(subnet.gateway !== undefined && { gatewayDHCP: subnet.gateway }),
        ...(subnet.nameServers?.[0] !== undefined && { nameserverDHCP: subnet.nameServers[0] }),
      },
    }),
    enableTFTP: tftp.enabled,
    addressTFTP: address,
    enableHTTP: true,
    addressHTTP: address,
    bootConfigs: [...bootConfigs],
  };
}

/** The fields of a configuration that are given and are not as they are. */
export function changed({ bootConfigs: _, ...wanted }: ServerConfig, is: ServerConfig): string[] {
  return Object.entries(wanted).flatMap(([field, value]) => {
    if (value === undefined || value === "") return [];
    return isDeepStrictEqual(value, is[field as keyof ServerConfig]) ? [] : [field];
  });
}

function sizeOf({ first, last }: { first: string; last: string }): number {
  const [from, to] = [tryParseIp(first), tryParseIp(last)];
  if (from === undefined || to === undefined) return 0;
  // Of IPv4, as the settings demand.
  return formatIp(from) === formatIp(to) ? 1 : Number(to.value - from.value) + 1;
}
