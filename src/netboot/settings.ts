/** Netboot's settings, from a file or from the command line. */
import { isAbsolute } from "node:path";
import { Fault } from "@slipway/base";
import { z } from "zod";
import type { SubnetConfig } from "./dhcp/config.ts";
import type { Reservation } from "./dhcp/reservations.ts";

/** Default namespace of discovered hosts. */
export const DISCOVERY_NAMESPACE = "slipway-hosts";

const address = z.ipv4();
const url = z.string().regex(/^https?:\/\/\S+$/, "a URL that starts with http:// or https:// is needed");
const absolutePath = z.string().refine(isAbsolute, "an absolute path is needed");
const port = z.int().min(1).max(65_535);
const seconds = z.int().min(1);

const subnet = z.strictObject({
  network: z.cidrv4(),
  pools: z.array(z.strictObject({ first: address, last: address })).default([]),
  gateway: address.exactOptional(),
  nameServers: z.array(address).exactOptional(),
  domain: z.string().exactOptional(),
  searchDomains: z.array(z.string()).exactOptional(),
  timeServers: z.array(address).exactOptional(),
  logServers: z.array(address).exactOptional(),
  mtu: z.int().min(576).max(65_535).exactOptional(),
  routes: z.array(z.strictObject({ network: z.cidrv4(), gateway: address })).exactOptional(),
  leaseSeconds: seconds.exactOptional(),
  bootLeaseSeconds: seconds.exactOptional(),
  quarantineSeconds: seconds.exactOptional(),
  leasesPerPort: z.int().positive().exactOptional(),
}) satisfies z.ZodType<SubnetConfig, unknown>;

const reservation = z.strictObject({
  mac: z.string(),
  address: address.exactOptional(),
  hostName: z.string().exactOptional(),
  file: z.string().exactOptional(),
  script: url.exactOptional(),
}) satisfies z.ZodType<Reservation, unknown>;

export const NetbootSettings = z.strictObject({
  /** The card that machines are reached by. Unset: the only one that has an address. */
  interface: z.string().min(1).max(15).exactOptional(),
  dhcp: z
    .strictObject({
      mode: z.enum(["pool", "proxy", "reservations", "off"]).default("pool"),
      subnets: z.array(subnet).default([]),
      reservations: z.array(reservation).default([]),
      /**
       * Networks in which another DHCP server gives the addresses. Machines there are distinguished by their neighbour entry, and behind
       * routers not at all. In `proxy` and `off` the interface's own networks are such by themselves.
       */
      foreign: z.array(z.cidrv4()).default([]),
    })
    .prefault({}),
  tftp: z.strictObject({ enabled: z.boolean().default(true), singlePort: z.boolean().default(false) }).prefault({}),
  http: z.strictObject({ port: port.default(8080), tlsPort: port.default(8443) }).prefault({}),
  syslog: z.strictObject({ enabled: z.boolean().default(true) }).prefault({}),
  /** For programs elsewhere that show a certificate of this netboot's authority (`pki/client.pem` in its folder). Unset: none. */
  api: z
    .strictObject({
      port,
      /** Whether plunder's API is served there as a whole: deployments and maps, beside leases and waiting machines (docs/plunder.md). */
      plunder: z.boolean().default(false),
    })
    .exactOptional(),
  boot: z
    .strictObject({
      /** What an unknown machine boots. */
      unknown: z.enum(["agent", "disk", "wait"]).default("agent"),
      /** The user's own script that such a machine gets instead: iPXE's language for iPXE, GRUB's for GRUB, which takes http only. */
      script: url.exactOptional(),
      /** ISO images by name, whose files are at `/iso/NAME/…`: a path, or one with what to replace in these files. */
      images: z
        .record(
          z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, "a name is letters, digits, dots and dashes"),
          z.union([
            absolutePath.transform((file) => ({ file, replace: {} })),
            z.strictObject({ file: absolutePath, replace: z.record(z.string(), z.string()).default({}) }),
          ]),
        )
        .default({}),
      /** The user's own folder; its boot files precede Debian's. */
      files: absolutePath.exactOptional(),
      /** Boot file or URL by architecture number (option 93). */
      byArchitecture: z.record(z.string().regex(/^\d{1,5}$/), z.string()).exactOptional(),
      /** UEFI machines boot iPXE in place of shim and GRUB. */
      uefi: z.enum(["grub", "ipxe"]).default("grub"),
      /** Added to the agent's kernel command line: a serial console, for instance. */
      arguments: z.array(z.string().regex(/^[\x21-\x7e]+$/)).default([]),
      uefiDiscovery: z.enum(["given", "port4011"]).default("given"),
    })
    .prefault({}),
  /**
   * Who is trusted with orders that write and with user data. `approved`: declared and approved machines. `first-seen`: all who register, for laboratories.
   * `by-namespace`: as `approved`, but all who register where a Namespace of hosts says so (`hosts/namespace-policy.ts`).
   */
  trust: z.enum(["approved", "first-seen", "by-namespace"]).default("approved"),
  /** PEM file with the certificates of TPMs' makers: an approval by a TPM needs one of them to vouch for it. Unset: none has to. */
  tpmAuthorities: absolutePath.exactOptional(),
  discovery: z
    .strictObject({
      namespace: z.string().default(DISCOVERY_NAMESPACE),
      /** BareMetalHosts that discovery makes at most. */
      most: z.int().min(0).default(1_000),
      perSecond: z.number().positive().default(5),
    })
    .prefault({}),
});
export type NetbootSettings = z.output<typeof NetbootSettings>;

/** Reads settings. Throws a `Fault` (`Invalid`) on `source` that names each wrong field and what it needs. */
export function netbootSettings(given: unknown, source: string): NetbootSettings {
  const read = NetbootSettings.safeParse(given ?? {});
  if (read.success) {
    const { mode, subnets } = read.data.dhcp;
    if (mode === "pool" && subnets.length === 0)
      throw new Fault("Invalid", source, "DHCP gives addresses, and no network is named to give them in", {
        remedy:
          "name one with --subnet and --range or under dhcp.subnets; beside another DHCP server, use --dhcp proxy",
      });
    return read.data;
  }
  const wrong = read.error.issues.map(({ path, message }) => `${path.join(".") || "the whole"}: ${message}`);
  throw new Fault("Invalid", source, wrong.join("; "));
}
