/**
 * What a user says once for all hosts that are installed alike: `spec.customDeploy.method` of a BareMetalHost is `<installer>/<name>`, and
 * the Secret or ConfigMap of that name beside the host has the settings, as YAML under the key `profile`. Each installer has its own
 * settings; unknown ones are refused. docs/installers.md has the fields.
 */

import { Fault } from "@slipway/base";
import { z } from "zod";
import { BOND_MODES, ROLES } from "./harvester/join.ts";
import * as field from "./installation/fields.ts";
import { checked, Installation, refusal, Swap, User } from "./installation/installation.ts";
import { secretYaml } from "./secret-yaml.ts";

/** One word of the kernel's command line. */
const argument = z
  .string()
  .max(512)
  .regex(/^[\x21-\x7e]+$/, "must be one word")
  .refine((word) => !/["'\\]/.test(word), "must have no quotes");

const keyboard = Installation.shape.keyboard.default({ layout: "us" });

/** What all installers of ours have in common. */
const system = {
  /** Of the hosts that may use the profile, and of kernel and initrd. */
  architecture: Installation.shape.architecture.default("x86_64"),
  kernel: field.webUrl,
  initrd: field.webUrl,
  /** The kernel's further arguments: a serial console, for instance. */
  arguments: z.array(argument).max(64).default([]),
  user: User,
  timezone: field.timezone.default("Etc/UTC"),
  locale: field.locale.default("en_US.UTF-8"),
  keyboard,
  ntpServers: Installation.shape.ntpServers.default([]),
  proxy: Installation.shape.proxy,
  mirror: Installation.shape.mirror,
  layout: Installation.shape.layout.default("plain"),
  swap: Swap.default("none"),
  packages: Installation.shape.packages.default([]),
  commands: Installation.shape.commands.default([]),
};

const bondOptions = z.strictObject({
  mode: z.enum(BOND_MODES).exactOptional(),
  miimon: z
    .string()
    .regex(/^\d{1,6}$/, "must be a number of ms")
    .exactOptional(),
});

const SCHEMAS = {
  preseed: z.strictObject(system),
  kickstart: z.strictObject({
    ...system,
    /** Anaconda has no default. */
    mirror: field.mirrorUrl,
    release: z.union([z.literal(8), z.literal(9), z.literal(10)]),
  }),
  autoinstall: z.strictObject({ ...system, iso: field.webUrl }),
  harvester: z.strictObject({
    isoUrl: field.webUrl,
    version: z.string().exactOptional(),
    architecture: Installation.shape.architecture.exactOptional(),
    artifactsUrl: field.webUrl.exactOptional(),
    serverUrl: field.webUrl,
    token: field.line(1024),
    passwordHash: field.passwordHash.exactOptional(),
    sshKeys: z.array(field.sshKey).max(64).default([]),
    nameServers: z.array(field.ipv4).max(3).default([]),
    ntpServers: Installation.shape.ntpServers.default([]),
    labels: z.record(z.string(), z.string()).default({}),
    role: z.enum(ROLES).default("default"),
    tty: z.string().default("tty1"),
    skipChecks: z.boolean().default(false),
    wipeAllDisks: z.boolean().default(false),
    bondOptions: bondOptions.exactOptional(),
  }),
  /** A script of the user's own, which does the rest. */
  ipxe: z.strictObject({
    script: field.webUrl,
    /** Its end is reported to the URL in the setting `slipway-succeeded`. Else the host counts as installed once it has the script. */
    report: z.boolean().default(false),
  }),
} as const;

export type Installer = keyof typeof SCHEMAS;
export const INSTALLERS = Object.keys(SCHEMAS) as readonly Installer[];
export type Profile = { [I in Installer]: { installer: I } & z.output<(typeof SCHEMAS)[I]> }[Installer];
/** A profile by which Slipway writes what the installer is given. */
export type WrittenProfile = Exclude<Profile, { installer: "ipxe" }>;
/** A profile whose installer takes an `Installation`. */
export type SystemProfile = Extract<Profile, { installer: "preseed" | "kickstart" | "autoinstall" }>;

export const PROFILE_KEY = "profile";

/** Which installer, and the name of the Secret or ConfigMap with its settings. */
export interface DeployMethod {
  installer: Installer;
  /** Absent with `ipxe` alone: `spec.userData` names the Secret with the script. */
  profile?: string;
}

/** Reads `spec.customDeploy.method`. Throws `Fault` (`Invalid`) for an installer that there is not, and without a name but for `ipxe`. */
export function deployMethod(method: string): DeployMethod {
  const [installer = "", profile, ...rest] = method.split("/");
  const source = "spec.customDeploy.method";
  const known = INSTALLERS.find((name) => name === installer);
  if (known === undefined)
    throw new Fault("Invalid", source, `${JSON.stringify(installer.slice(0, 64))} is none of ${INSTALLERS.join(", ")}`);
  if (known === "ipxe" && method === known) return { installer: known };
  if (profile === undefined || rest.length > 0 || !field.hostname.safeParse(profile).success)
    throw new Fault(
      "Invalid",
      source,
      `must be ${known}/NAME, where NAME is a Secret or ConfigMap in the host's namespace`,
    );
  return { installer: known, profile };
}

/**
 * The profile in a Secret's or ConfigMap's texts. Throws `Fault` (`Invalid`) on `source` (`Secret hosts/debian-12`) that names each wrong
 * field by its path. It never holds a value.
 */
export function readProfile(installer: Installer, data: Readonly<Record<string, string>>, source: string): Profile {
  const text = data[PROFILE_KEY];
  if (text === undefined) throw refusal(source, [{ path: PROFILE_KEY, message: "the key is missing" }]);
  const where = `${source}, ${PROFILE_KEY}`;
  // A union's member by the key that was asked for: TypeScript does not follow it.
  return { installer, ...checked<object>(SCHEMAS[installer], secretYaml(text, where), where) } as Profile;
}
