import { ipxeScript, type Statement } from "../../netboot/ipxe/script.ts";
import type { HarvesterJoin } from "./join.ts";
import { kernelArguments } from "./kernel-arguments.ts";
import { assertJoin } from "./validate.ts";
import { artifactsOf } from "./version.ts";

const RETRY_SECONDS = 10;

export interface InstallScript {
  join: HarvesterJoin;
  /** Where the installer fetches its configuration. */
  configUrl: string;
  /** This script's own URL: after a failed download the machine asks for its script anew, so a mended one reaches it. Unset: it tries the same again. */
  selfUrl?: string;
  /** False: the installer's live system downloads without checking certificates. */
  verifyTls?: boolean;
}

/**
 * The script that starts the installer. The management card is the one the machine booted from, unless `join.management.interfaces`
 * names others (two passes: they were read from the provider's API while the machine held).
 * No failure ends it: a machine in a firmware menu could not be reached any more.
 */
export function installScript(script: InstallScript): string {
  assertJoin(script.join);
  const artifacts = artifactsOf(script.join);
  const args = kernelArguments(script.join, artifacts, {
    configUrl: script.configUrl,
    ...(script.verifyTls === undefined ? {} : { verifyTls: script.verifyTls }),
  });
  return ipxeScript([
    { do: "label", name: "install" },
    { do: "dhcp", otherwise: "retry" },
    { do: "kernel", url: artifacts.kernel, args, otherwise: "retry" },
    { do: "initrd", url: artifacts.initrd, otherwise: "retry" },
    { do: "boot", otherwise: "retry" },
    { do: "label", name: "retry" },
    { do: "echo", text: `The Harvester installer could not be loaded; next attempt in ${RETRY_SECONDS} seconds` },
    { do: "imgfree" },
    { do: "sleep", seconds: RETRY_SECONDS },
    ...again(script.selfUrl),
    { do: "goto", label: "install" },
  ]);
}

function again(selfUrl: string | undefined): Statement[] {
  return selfUrl === undefined
    ? []
    : [{ do: "chain", url: selfUrl, replace: true, autofree: true, otherwise: "install" }];
}

/**
 * The script of the first of two passes: the machine waits, asking for its script again and again at `selfUrl`, until
 * the answer is another one. It keeps asking through changes of its network.
 */
export function holdScript(selfUrl: string): string {
  return ipxeScript([
    { do: "label", name: "hold" },
    { do: "echo", text: `Waiting for instructions; next question in ${RETRY_SECONDS} seconds` },
    { do: "sleep", seconds: RETRY_SECONDS },
    { do: "chain", url: selfUrl, replace: true, autofree: true, otherwise: "network" },
    { do: "label", name: "network" },
    { do: "dhcp", otherwise: "hold" },
    { do: "goto", label: "hold" },
  ]);
}

/** Hands over to a script of the user's own (`ipxeScriptUrl`), trying until it is there. */
export function handOverScript(url: string): string {
  return ipxeScript([
    { do: "label", name: "start" },
    { do: "dhcp", otherwise: "pause" },
    { do: "chain", url, replace: true, autofree: true, otherwise: "pause" },
    { do: "label", name: "pause" },
    { do: "sleep", seconds: RETRY_SECONDS },
    { do: "goto", label: "start" },
  ]);
}
