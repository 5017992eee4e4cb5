/** The configuration of plunder's server as netboot's settings. */
import { addIp, Fault, formatIp, networkOf, tryParseIp } from "@slipway/base";
import { prefixOf } from "../deployments/offer.ts";
import { typeOf } from "../files/boot-config.ts";
import type { Deployments } from "../files/deployment.ts";
import type { ServerConfig } from "../files/server-config.ts";
import { isSaid } from "../files/texts.ts";
import type { Note } from "./note.ts";

const USUAL_MASK = "255.255.255.0";
const USUAL_POOL = 20;

/** Netboot's settings. */
export function settingsOf(config: ServerConfig, { deployments }: Deployments): object {
  const { adapter, enableDHCP = false, enableTFTP = false, dhcpConfig = {}, bootConfigs } = config;
  const images = bootConfigs.filter(({ isoPath, isoPrefix }) => isSaid(isoPath) && isSaid(isoPrefix));
  const reservations = deployments
    .filter(({ config: { address } }) => isSaid(address))
    .map(({ mac, config: { address, hostname } }) => ({
      mac,
      address,
      ...(isSaid(hostname) && { hostName: hostname }),
    }));
  const subnet = enableDHCP ? subnetOf(dhcpConfig) : undefined;
  return {
    ...(isSaid(adapter) && { interface: adapter }),
    dhcp: {
      mode: enableDHCP ? "pool" : "off",
      ...(subnet !== undefined && { subnets: [subnet] }),
      ...(enableDHCP && reservations.length > 0 && { reservations }),
    },
    tftp: { enabled: enableTFTP },
    ...(images.length > 0 && {
      boot: { images: Object.fromEntries(images.map(({ isoPath, isoPrefix }) => [isoPrefix, isoPath])) },
    }),
  };
}

function subnetOf({
  addressDHCP = "",
  startDHCP,
  leasePoolDHCP = USUAL_POOL,
  subnetDHCP,
  gatewayDHCP,
  nameserverDHCP,
}: NonNullable<ServerConfig["dhcpConfig"]>): object | undefined {
  const prefix = prefixOf(isSaid(subnetDHCP) ? subnetDHCP : USUAL_MASK);
  const start = tryParseIp(isSaid(startDHCP) ? startDHCP : addressDHCP);
  if (prefix === undefined || start?.family !== 4) return undefined;
  const first = isSaid(startDHCP) ? start : addIp(start, 1n);
  const { address } = networkOf({ address: first, prefix });
  const count = BigInt(Math.max(leasePoolDHCP, 1));
  if (first.value + count > 2n ** 32n)
    throw new Fault("Invalid", "dhcpConfig.leasePoolDHCP", "more addresses than there are");
  return {
    network: `${formatIp(address)}/${prefix}`,
    pools: [{ first: formatIp(first), last: formatIp(addIp(first, count - 1n)) }],
    ...(isSaid(gatewayDHCP) && { gateway: gatewayDHCP }),
    ...(isSaid(nameserverDHCP) && { nameServers: [nameserverDHCP] }),
  };
}

const SERVER: Readonly<Record<string, Omit<Note, "path">>> = {
  adapter: { becomes: "interface" },
  enableDHCP: { becomes: "dhcp.mode: pool, or off" },
  enableTFTP: { becomes: "tftp.enabled" },
  addressTFTP: { lost: "it is the interface's address" },
  enableHTTP: { lost: "HTTP is always served" },
  addressHTTP: { lost: "it is the interface's address" },
  pxePath: { lost: "the boot file follows from the machine's architecture; put one of your own into boot.files" },
};
const DHCP: Readonly<Record<string, Omit<Note, "path">>> = {
  addressDHCP: { lost: "it is the interface's address" },
  startDHCP: { becomes: "dhcp.subnets[0].pools[0].first" },
  leasePoolDHCP: { becomes: "dhcp.subnets[0].pools[0].last" },
  subnetDHCP: { becomes: "dhcp.subnets[0].network" },
  gatewayDHCP: { becomes: "dhcp.subnets[0].gateway" },
  nameserverDHCP: { becomes: "dhcp.subnets[0].nameServers" },
};

/** What each of its fields becomes. */
export function serverNotes({ bootConfigs, dhcpConfig = {}, ...rest }: ServerConfig): Note[] {
  const of = (fields: object, table: Readonly<Record<string, Omit<Note, "path">>>, path: Note["path"]): Note[] =>
    Object.entries(fields).flatMap(([field, value]) =>
      value === undefined || value === "" || table[field] === undefined
        ? []
        : [{ path: [...path, field], ...table[field] }],
    );
  return [
    ...of(rest, SERVER, []),
    ...of(dhcpConfig, DHCP, ["dhcpConfig"]),
    ...bootConfigs.flatMap((boot, at) => bootNotes(boot, ["bootConfigs", at])),
  ];
}

function bootNotes(boot: ServerConfig["bootConfigs"][number], path: Note["path"]): Note[] {
  const type = typeOf(boot);
  const profile = type === "preseed" || type === "kickstart";
  const where = `Secret ${boot.configName}`;
  const note = (field: string, rest: Omit<Note, "path">): Note => ({ path: [...path, field], ...rest });
  const kept: Readonly<Record<string, Omit<Note, "path">>> = {
    configName: { becomes: profile ? `the name of ${where}` : "a name of plunder's API alone" },
    configType: TYPES[type],
    kernelPath: profile
      ? { becomes: `kernel in ${where}, a URL that you complete` }
      : { becomes: "plunder's API alone" },
    initrdPath: profile
      ? { becomes: `initrd in ${where}, a URL that you complete` }
      : { becomes: "plunder's API alone" },
    cmdline: profile ? { becomes: `arguments in ${where}` } : { becomes: "plunder's API alone" },
    isoPath: isSaid(boot.isoPrefix)
      ? { becomes: `boot.images.${boot.isoPrefix}` }
      : { lost: "isoPrefix, under which it is served, is missing" },
    isoPrefix: isSaid(boot.isoPath) ? { becomes: `/iso/${boot.isoPrefix}/` } : { lost: "isoPath is missing" },
  };
  return Object.entries(boot).flatMap(([field, value]) =>
    isSaid(value) && kept[field] !== undefined ? [note(field, kept[field])] : [],
  );
}

const TYPES = {
  preseed: { becomes: "customDeploy.method: preseed/NAME" },
  kickstart: { becomes: "customDeploy.method: kickstart/NAME, with release: 9", lost: "see that the release is right" },
  autoinstall: { lost: "plunder has no such type: write a profile for customDeploy.method: autoinstall/NAME" },
  booty: { becomes: "spec.image of the BareMetalHost" },
  vsphere: { lost: "ESXi is not installed; use the method ipxe with a script of your own" },
  default: { becomes: "customDeploy.method: ipxe, with a script of your own" },
} as const;
