/** plunder's deployments: which machine is installed by which boot configuration, and as what. */
import { isMac, parseMac } from "@slipway/base";
import { z } from "zod";
import { BootConfig } from "./boot-config.ts";
import { flag, isSaid, text } from "./texts.ts";

/** Settings of one machine, or of all. */
export const HostConfig = z.strictObject({
  adapter: text,
  address: text,
  hostname: text,
  gateway: text,
  subnet: text,
  nameserver: text,
  ntpserver: text,
  lvmEnabled: flag,
  swapDisabled: flag,
  username: text,
  password: text,
  repoaddress: text,
  mirrordir: text,
  sshkeypath: text,
  /** Base64 of the public key's line. */
  sshkey: text,
  packages: text,
  bootyAction: text,
  compressed: flag,
  sourceImage: text,
  destinationDevice: text,
  sourceDevice: text,
  destinationAddress: text,
  growPartition: z.union([text, z.int().min(0)]),
  lvmRootName: text,
  shellOnFail: flag,
});
export type HostConfig = z.output<typeof HostConfig>;

export const mac = z
  .string("a MAC address is needed")
  .max(32)
  .refine(isMac, "must be a MAC address such as 52:54:00:12:34:56")
  .overwrite((value) => (isMac(value) ? parseMac(value) : value));

export const Deployment = z.strictObject({
  mac,
  bootConfigName: z
    .string("the name of a boot configuration is needed")
    .min(1, "the name of a boot configuration is needed"),
  /** The original replaces what is here by the configuration of that name. */
  bootConfig: BootConfig.partial().optional(),
  config: HostConfig.default({}),
});
export type Deployment = z.output<typeof Deployment>;

export const Deployments = z.strictObject({
  globalConfig: HostConfig.default({}),
  deployments: z
    .array(Deployment)
    .max(10_000)
    .nullable()
    .default([])
    .transform((list) => list ?? []),
});
export type Deployments = z.output<typeof Deployments>;

/** A machine's settings over those of all. The original left out `ntpserver` and `sshkey`, and let false of all win over true of one (E3). */
export function inherited(config: HostConfig, globalConfig: HostConfig): HostConfig {
  const said = Object.entries(config).filter(([, value]) =>
    typeof value === "string" ? isSaid(value) : value !== undefined,
  );
  // Those two name one machine.
  const { address: _address, hostname: _hostname, ...shared } = globalConfig;
  return { ...shared, ...Object.fromEntries(said) };
}
