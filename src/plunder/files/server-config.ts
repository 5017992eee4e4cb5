/** The configuration file of plunder's server. */
import { z } from "zod";
import { BootConfig } from "./boot-config.ts";
import { count, flag, text } from "./texts.ts";

export const DhcpConfig = z.strictObject({
  addressDHCP: text,
  startDHCP: text,
  leasePoolDHCP: count,
  subnetDHCP: text,
  gatewayDHCP: text,
  nameserverDHCP: text,
});
export type DhcpConfig = z.output<typeof DhcpConfig>;

export const ServerConfig = z.strictObject({
  adapter: text,
  enableDHCP: flag,
  dhcpConfig: DhcpConfig.optional(),
  enableTFTP: flag,
  addressTFTP: text,
  enableHTTP: flag,
  addressHTTP: text,
  pxePath: text,
  bootConfigs: z
    .array(BootConfig)
    .max(1_000)
    .nullable()
    .default([])
    .transform((list) => list ?? []),
});
export type ServerConfig = z.output<typeof ServerConfig>;
