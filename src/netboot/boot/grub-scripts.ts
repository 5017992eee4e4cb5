import { grubPath } from "../grub/path.ts";
import type { GrubScript, GrubStatement } from "../grub/script.ts";
import type { AgentBoot } from "./machine.ts";
import { FIRST_ATTEMPTS, type NextStep, PAUSE_SECONDS } from "./next-step.ts";

/** By the UEFI specification (§3.5.1.1) the loaders of disks that no boot entry names. */
const LOADERS = ["/EFI/BOOT/BOOTX64.EFI", "/EFI/BOOT/BOOTAA64.EFI"];

/** Starts what the disks have; goes on when that is nothing. */
const START_DISK: GrubScript = LOADERS.map((file) => ({
  do: "if",
  when: { do: "search", file },
  body: [{ do: "if", when: { do: "chainloader", file }, body: [{ do: "boot" }] }],
}));

/**
 * The same for every machine: reads the machine's own script, again and again once there is one. A machine that never got an
 * answer boots from its disk. `base`: `http://192.0.2.1:8080`.
 */
export function firstGrubScript(base: string): GrubScript {
  const [mac, arch, platform] = ["net_default_mac", "grub_cpu", "grub_platform"].map((variable) => ({ variable }));
  const source: GrubStatement = {
    do: "source",
    file: [grubPath(`${base}/boot/`), mac!, ".grub?arch=", arch!, "&platform=", platform!],
  };
  const pause: GrubStatement = { do: "sleep", seconds: PAUSE_SECONDS };
  return [
    { do: "echo", text: `Slipway at ${base}` },
    { do: "set", name: "answered", value: "no" },
    {
      do: "repeat",
      times: FIRST_ATTEMPTS,
      body: [source, { do: "while", when: { equal: [{ variable: "answered" }, "yes"] }, body: [pause, source] }, pause],
    },
    { do: "echo", text: "Slipway does not answer: booting from disk" },
    ...START_DISK,
    { do: "exit" },
  ];
}

/** Cards that GRUB is asked for, by its own numbers. */
const CARDS = [0, 1, 2, 3, 4, 5, 6, 7];

/**
 * What GRUB reads that came from a CD and so knows no network: it asks DHCP by every card, takes the one with this address for its own, and goes on with the
 * script at `file`, a URL. Where that is not to be had, the machine goes on by the order of its firmware.
 */
export function mediaGrubScript(mac: string, file: string): GrubScript {
  const choose = CARDS.map(
    // GRUB calls the interface "efinet0:dhcp", but looks for what it knows of it by the name that its variables have.
    (n): GrubStatement => ({
      do: "if",
      when: { equal: [{ variable: `net_efinet${n}_dhcp_mac` }, mac] },
      body: [{ do: "set", name: "net_default_interface", value: `efinet${n}_dhcp` }],
    }),
  );
  const connect: GrubScript = [{ do: "bootp" }, ...choose];
  return [
    { do: "echo", text: "Slipway: starting from the virtual drive" },
    {
      do: "repeat",
      times: FIRST_ATTEMPTS,
      body: [
        { do: "if", when: { equal: [{ variable: "net_default_mac" }, mac] }, body: [], otherwise: connect },
        { do: "source", file: grubPath(file) },
        { do: "sleep", seconds: PAUSE_SECONDS },
      ],
    },
    { do: "exit" },
  ];
}

/** One machine's own, read in the loop of the first. When it ends, that one pauses and asks anew. `self`: where this script comes from. */
export function nextGrubScript(next: NextStep, self: string): GrubScript {
  const answered: GrubStatement = { do: "set", name: "answered", value: "yes" };
  if (next.action === "disk") return diskScript(next.foundNothing, self);
  if (next.action === "wait") return [answered];
  if (next.action === "agent")
    return [answered, { do: "echo", text: "Slipway: starting the agent" }, ...linux(next.agent)];
  if (next.action === "installer") return [answered, ...installer(next)];
  const { chain } = next.action;
  if (!chain.startsWith("http://")) return [answered, { do: "echo", text: `Slipway: GRUB can't fetch ${chain}` }];
  return [answered, { do: "configfile", file: grubPath(chain) }];
}

/** Starts what the disks have. If they have nothing, reports that and asks what comes next. */
function diskScript(foundNothing: "restart" | "leave" | undefined, self: string): GrubScript {
  if (foundNothing === "leave") return [{ do: "exit" }];
  if (foundNothing === "restart")
    return [
      { do: "echo", text: "Slipway: no disk has a loader at the usual place: starting again for the firmware to look" },
      { do: "sleep", seconds: 2 },
      { do: "reboot" },
    ];
  return [
    { do: "echo", text: "Slipway: booting from disk" },
    ...START_DISK,
    { do: "source", file: grubPath(`${self}&disk=none`) },
    { do: "exit" },
  ];
}

function installer({ start, ipxe }: Extract<NextStep, { action: "installer" }>): GrubScript {
  if (start.is === "kernel")
    return [{ do: "echo", text: "Slipway: starting the installer of this machine" }, ...linux(start)];
  const [byCard, alone] = ipxe;
  const chain = (file: string): GrubStatement => {
    return { do: "if", when: { do: "chainloader", file: grubPath(file) }, body: [{ do: "boot" }] };
  };
  return [
    { do: "echo", text: "Slipway: starting iPXE, for the script that installs this machine" },
    // iPXE goes on by the device that paths without one begin at: the card that has the way to this server. A port would be looked up as a part of a name.
    { do: "set", name: "root", value: `http,${new URL(byCard).hostname}` },
    chain(byCard),
    // A GRUB that the firmware has fetched by HTTP goes on by the firmware's network and has no way of its own anywhere ("destination unreachable"). Then a disk
    // stands for the device that iPXE must have come from, and it looks for the cards itself.
    { do: "set", name: "root", value: "hd0" },
    chain(alone),
    { do: "echo", text: "Slipway: iPXE does not start: it is missing, or Secure Boot refuses it" },
  ];
}

function linux({ kernel, packedKernel, initrd, commandLine }: AgentBoot): GrubScript {
  const loadRest: GrubStatement = {
    do: "if",
    when: { do: "initrd", files: [grubPath(initrd)] },
    body: [{ do: "boot" }],
  };
  const start = (url: string): GrubStatement => {
    return { do: "if", when: { do: "linux", kernel: grubPath(url), args: commandLine }, body: [loadRest] };
  };
  if (packedKernel === undefined) return [start(kernel)];
  // With Secure Boot GRUB has the file's own bytes checked, and only the kernel itself is signed.
  const withoutSecureBoot: GrubStatement = {
    do: "if",
    when: { equal: [{ variable: "lockdown" }, "y"] },
    body: [],
    otherwise: [start(packedKernel)],
  };
  return [withoutSecureBoot, start(kernel)];
}
