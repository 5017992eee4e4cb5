import type { InstallerStart } from "../http/installers.ts";
import type { IpxeScript, Statement } from "../ipxe/script.ts";
import type { AgentBoot } from "./machine.ts";
import { FIRST_ATTEMPTS, type NextStep, PAUSE_SECONDS } from "./next-step.ts";

/** Longer than a waiting machine's request is held, short enough to notice that it is no longer held. */
const WAIT_MS = 90_000;

/**
 * The same for every machine: goes on to its own script. `base`: `http://192.0.2.1:8080`. `withoutAddress`: iPXE has asked for none
 * yet; it then asks for an IPv4 address alone, and so waits for no IPv6 router.
 */
export function firstIpxeScript(base: string, { withoutAddress }: { withoutAddress: boolean }): IpxeScript {
  const [mac, arch, platform] = ["netX/mac:hexhyp", "buildarch", "platform"].map((setting) => ({ setting }));
  const url = [`${base}/boot/`, mac!, ".ipxe?arch=", arch!, "&platform=", platform!];
  const attempts = Array.from({ length: FIRST_ATTEMPTS }, (_, at): Statement[] => [
    ...(withoutAddress ? [{ do: "dhcp", otherwise: `pause${at}` } as const] : []),
    { do: "chain", url, replace: true, autofree: true, otherwise: `pause${at}` },
    { do: "label", name: `pause${at}` },
    { do: "sleep", seconds: PAUSE_SECONDS },
  ]);
  return [
    { do: "echo", text: `Slipway at ${base}` },
    ...attempts.flat(),
    { do: "echo", text: "Slipway does not answer: on to the next boot device" },
    { do: "exit", status: 1 },
  ];
}

/** One machine's own. It goes on until something boots; only `disk` gives up the machine. `self`: where this script is asked for again. */
export function nextIpxeScript(next: NextStep, self: string): IpxeScript {
  if (next.action === "disk")
    return [
      { do: "echo", text: "Slipway: on to the next boot device" },
      { do: "exit", status: 1 },
    ];
  // A machine that was given its installer and asks as if for the first time was started anew.
  const again = next.action === "installer" ? `${self}&again=1` : self;
  return [
    ...attempt(next, self),
    { do: "label", name: "again" },
    { do: "imgfree" },
    { do: "sleep", seconds: PAUSE_SECONDS },
    { do: "chain", url: again, replace: true, autofree: true, otherwise: "again" },
  ];
}

function attempt(next: Exclude<NextStep, { action: "disk" }>, self: string): Statement[] {
  if (next.action === "agent") return [{ do: "echo", text: "Slipway: starting the agent" }, ...linux(next.agent)];
  if (next.action === "installer") return installer(next.start);
  if (next.action === "wait")
    return [
      { do: "echo", text: "Slipway: nothing to do yet" },
      { do: "chain", url: `${self}&wait=1`, replace: true, autofree: true, timeoutMs: WAIT_MS, otherwise: "again" },
    ];
  return [
    { do: "echo", text: "Slipway: starting the script given for this machine" },
    { do: "chain", url: next.action.chain, replace: true, autofree: true, otherwise: "again" },
  ];
}

function installer(start: InstallerStart): Statement[] {
  if (start.is === "kernel")
    return [{ do: "echo", text: "Slipway: starting the installer of this machine" }, ...linux(start)];
  return [
    { do: "echo", text: "Slipway: starting the script that installs this machine" },
    ...Object.entries(start.settings).map(([name, value]): Statement => ({ do: "set", name, value })),
    { do: "chain", url: start.url, replace: true, autofree: true, otherwise: "again" },
  ];
}

function linux({ kernel, initrd, commandLine }: AgentBoot): Statement[] {
  return [
    // Under UEFI the kernel itself looks for its initramfs, by this name.
    { do: "kernel", url: kernel, args: ["initrd=initrd", ...commandLine], otherwise: "again" },
    { do: "initrd", url: initrd, name: "initrd", otherwise: "again" },
    { do: "boot", otherwise: "again" },
  ];
}
