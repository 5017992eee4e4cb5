import type { Hardware } from "../hardware.ts";

/** iPXE settings: what `${name}` stands for. Unset names are undefined and expand to nothing. */
export interface Settings {
  get(name: string): string | undefined;
  /** An undefined value clears. */
  set(name: string, value: string | undefined): void;
}

export interface BootFacts {
  /** iPXE's `${buildarch}`; by default what the firmware type implies on x86. */
  buildarch?: "i386" | "x86_64" | "arm64";
  /** Which NIC has a link and got the lease: index into `nics`. */
  linked?: number;
  /** Settings that DHCP or the build brings, such as `ipxe_cloud_config`. */
  extra?: Readonly<Record<string, string>>;
}

/** The settings of a machine that has its DHCP lease (ipxe.org/cfg): built-in names, `netN/…` per NIC, `netX/…` and bare names for the one in use. */
export function hardwareSettings(hardware: Hardware, facts: BootFacts = {}): Settings {
  const uefi = hardware.firmware === "uefi";
  const linked = facts.linked ?? 0;
  const builtIn = new Map<string, string>([
    ["uuid", hardware.id],
    ["serial", hardware.serial],
    ["hostname", hardware.hostname],
    ["product", hardware.plan],
    ["manufacturer", "Simulated"],
    ["platform", uefi ? "efi" : "pcbios"],
    ["buildarch", facts.buildarch ?? (uefi ? "x86_64" : "i386")],
    ["version", "1.21.1+"],
    ...Object.entries(facts.extra ?? {}),
  ]);
  for (const [index, nic] of hardware.nics.entries()) {
    const own: [string, string][] = [
      ["mac", nic.mac],
      ["ifname", `net${index}`],
    ];
    if (index === linked) own.push(["ip", hardware.publicIp], ["netmask", "255.255.255.254"]);
    for (const [name, value] of own) {
      builtIn.set(`net${index}/${name}`, value);
      if (index === linked) builtIn.set(`netX/${name}`, value).set(name, value);
    }
  }
  const changed = new Map<string, string | undefined>();
  return {
    get: (name) => (changed.has(name) ? changed.get(name) : builtIn.get(name)),
    set: (name, value) => {
      changed.set(name, value);
    },
  };
}

const FORMATS: Readonly<Record<string, (value: string) => string>> = {
  string: (value) => value,
  uristring: encodeURIComponent,
  ipv4: (value) => value,
  uuid: (value) => value,
  hex: (value) => value,
  hexhyp: (value) => value.replaceAll(":", "-"),
  hexraw: (value) => value.replaceAll(":", ""),
  base64: (value) => Buffer.from(value).toString("base64"),
};

/**
 * Replaces every `${name}` and `${name:format}`, innermost first; text without a closing brace stays as it is.
 * What a value holds is never expanded again: only nesting in the script's own text is.
 */
export function expand(text: string, settings: Settings): string {
  // One text for each `${` that is still open, the outermost first.
  const open = [""];
  for (const piece of text.split(/(\$\{|\})/)) {
    if (piece === "${") open.push("");
    else if (piece === "}" && open.length > 1) {
      const inner = open.pop()!;
      open[open.length - 1] += settingOf(inner, settings);
    } else open[open.length - 1] += piece;
  }
  return open.join("${");
}

function settingOf(inner: string, settings: Settings): string {
  const [name = "", format = "string"] = inner.split(":", 2);
  const show = Object.hasOwn(FORMATS, format) ? FORMATS[format]! : FORMATS.string!;
  return show(settings.get(name) ?? "");
}
