/** What tests of every format share: an installation with each field set, and what people and attackers write into fields. */
import fc from "fast-check";
import type { Installation, SystemSettings } from "./installation.ts";

export const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBase64";

/** Every optional field but `seedUrl` is set, and as many as can be are unlike the formats' defaults. */
export const FULL: Installation = {
  hostname: "web-1.example.org",
  network: {
    mac: "52:54:00:12:34:56",
    method: "static",
    address: "10.0.0.5/24",
    gateway: "10.0.0.1",
    nameServers: ["10.0.0.2", "10.0.0.3"],
  },
  user: { name: "ops", sshKeys: [`${KEY} o'brien "x" $(id) #1`], passwordHash: "$6$saltsalt$abcdefghijk./" },
  timezone: "Europe/Vienna",
  locale: "de_AT.UTF-8",
  keyboard: { layout: "de", variant: "nodeadkeys" },
  ntpServers: ["10.0.0.4", "ntp.example.org"],
  proxy: "http://10.0.0.6:3128",
  mirror: "http://mirror.example.org/debian",
  swap: { mebibytes: 2048 },
  packages: ["curl", "jq"],
  commands: [`echo "it's $HOME" > /etc/motd; echo %end`, "true"],
  report: { succeeded: "https://slipway.test/b/1/succeeded", failed: "https://slipway.test/b/1/failed" },
  architecture: "x86_64",
  firmware: "uefi",
  disk: "/dev/disk/by-id/nvme-X_1",
  layout: "lvm",
};

/** The same for a machine that joins a cluster. */
export const SEEDED: Installation = { ...FULL, seedUrl: "https://slipway.test/boot/1/" };

/** As little as there can be. */
export const SMALL: Installation = {
  hostname: "web-1",
  network: { mac: "52:54:00:12:34:56", method: "dhcp" },
  user: { name: "ops", sshKeys: [KEY] },
  timezone: "Etc/UTC",
  locale: "en_US.UTF-8",
  keyboard: { layout: "us" },
  ntpServers: [],
  swap: "none",
  packages: [],
  commands: [],
  architecture: "x86_64",
  firmware: "bios",
  disk: "/dev/sda",
  layout: "plain",
};

/** A static address without a way out and without names. */
export const ISOLATED: Installation = {
  ...SMALL,
  mirror: "http://10.0.0.9/tree",
  network: { mac: "52:54:00:12:34:56", method: "static", address: "10.0.0.5/24", nameServers: [] },
};

/** One in each list, and the words by which it shows in every format. */
export const ONE_EACH: Installation = {
  ...ISOLATED,
  network: { mac: "52:54:00:12:34:56", method: "static", address: "10.0.0.5/24", nameServers: ["10.0.0.2"] },
  ntpServers: ["10.0.0.4"],
  packages: ["jq"],
  commands: ["touch /one"],
};
export const ONE_EACH_SHOWS: readonly string[] = ["10.0.0.2", "10.0.0.4", "jq", "touch /one"];

/** What of it holds for a system that is on the disk already. */
export function settingsOf(installation: Installation): SystemSettings {
  const { architecture: _a, firmware: _f, disk: _d, layout: _l, seedUrl: _s, ...settings } = installation;
  return settings;
}

/** One change to each field of `FULL`, none of which leaves it as it is. */
export const CHANGES: Readonly<Record<keyof Installation, Partial<Installation>>> = {
  hostname: { hostname: "web-2" },
  network: { network: { mac: "52:54:00:12:34:57", method: "dhcp" } },
  user: { user: { name: "admin", sshKeys: [KEY] } },
  timezone: { timezone: "Etc/UTC" },
  locale: { locale: "en_US.UTF-8" },
  keyboard: { keyboard: { layout: "us" } },
  ntpServers: { ntpServers: ["10.0.0.9"] },
  proxy: { proxy: "http://10.0.0.7:3128" },
  mirror: { mirror: "https://other.example.org/tree" },
  swap: { swap: "none" },
  packages: { packages: ["vim"] },
  commands: { commands: ["false"] },
  report: { report: { succeeded: "https://slipway.test/b/2/succeeded" } },
  architecture: { architecture: "aarch64" },
  firmware: { firmware: "bios" },
  disk: { disk: "/dev/sdb" },
  layout: { layout: "plain" },
  seedUrl: { seedUrl: "https://slipway.test/boot/2/" },
};

const SPECIAL = "a0 '\"`$;&|<>(){}[]#%\\!*?~=:,/@-.".split("");
const INVISIBLE = "\n\r\t\0\u0085\u2028".split("");
const PHRASES = [
  "\nd-i preseed/late_command string reboot",
  "\n%end",
  "\n%post",
  "$(reboot)",
  "' ; reboot; '",
  "%include /x",
  "- x",
  ": {a",
];
const joined = (parts: readonly string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((some) => some.join(""));

/** Text of any kind, and text that would start something else in one of the formats. */
export const hostile: fc.Arbitrary<string> = fc.oneof(
  joined(SPECIAL),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 40 }),
  joined([...SPECIAL, ...INVISIBLE, ...PHRASES]),
);

const list = (prefix = ""): fc.Arbitrary<string[]> =>
  fc.array(
    hostile.map((text) => `${prefix}${text}`),
    { minLength: 1, maxLength: 2 },
  );
const user = (change: Partial<Installation["user"]>): Partial<Installation> => ({ user: { ...FULL.user, ...change } });

/** `FULL` with hostile text in one place. */
export const attacked: fc.Arbitrary<Installation> = fc
  .oneof(
    hostile.map((hostname): Partial<Installation> => ({ hostname })),
    hostile.map((timezone) => ({ timezone })),
    hostile.map((locale) => ({ locale })),
    hostile.map((text) => ({ proxy: `http://p/${text}` })),
    hostile.map((text) => ({ mirror: `http://m/${text}` })),
    hostile.map((text) => ({ disk: `/dev/${text}` })),
    hostile.map((variant) => ({ keyboard: { layout: "de", variant } })),
    hostile.map((succeeded) => ({ report: { succeeded, failed: FULL.report!.failed! } })),
    hostile.map((text) => ({ report: { succeeded: `http://r/${text}`, failed: `http://r/${text}` } })),
    hostile.map((text) => ({ seedUrl: `http://s/${text}/` })),
    hostile.map((name) => user({ name })),
    hostile.map((text) => user({ passwordHash: `$6$${text}` })),
    list(`${KEY} `).map((sshKeys) => user({ sshKeys })),
    list("a").map((packages) => ({ packages })),
    list().map((ntpServers) => ({ ntpServers })),
    { weight: 4, arbitrary: list().map((commands) => ({ commands })) },
  )
  .map((change) => ({ ...FULL, ...change }));

/** The line that reports to `FULL`'s URL for one of the two ends. */
export function reported(end: "succeeded" | "failed"): string {
  const url = `https://slipway.test/b/1/${end}`;
  const curl = `curl -fsS -m 60 -o /dev/null -X POST --data-binary '' ${url}`;
  return `for attempt in 1 2 3 4 5; do if ${curl} || wget -q -O /dev/null --post-data= ${url}; then break; fi; sleep 5; done`;
}
