/** What plunder calls a boot configuration: kernel, initrd and command line under a name, and the type of installation. */
import { z } from "zod";
import { text } from "./texts.ts";

/** `configType` values that have a meaning, `autoinstall` in Slipway alone; every other one is `default`: kernel, initrd and command line alone. */
export const CONFIG_TYPES = ["preseed", "kickstart", "autoinstall", "vsphere", "booty", "default"] as const;
export type ConfigType = (typeof CONFIG_TYPES)[number];

export const BootConfig = z.strictObject({
  configName: z
    .string("a name is needed")
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, "a name is letters, digits, dots and dashes"),
  configType: text,
  kernelPath: text,
  initrdPath: text,
  cmdline: text,
  isoPath: text,
  isoPrefix: text,
});
export type BootConfig = z.output<typeof BootConfig>;

/** Types whose machines read a file that Slipway writes. */
export const INSTALLER_TYPES = ["preseed", "kickstart", "autoinstall"] as const satisfies readonly ConfigType[];
export type InstallerType = (typeof INSTALLER_TYPES)[number];

/** Whether machines of this type read a file that Slipway writes. */
export const isInstaller = (type: ConfigType): type is InstallerType =>
  (INSTALLER_TYPES as readonly ConfigType[]).includes(type);

/** Of a boot configuration. */
export function typeOf({ configType = "" }: Pick<BootConfig, "configType">): ConfigType {
  return CONFIG_TYPES.find((type) => type === configType) ?? "default";
}
