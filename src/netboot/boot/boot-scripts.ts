/**
 * Every machine's own script, written when it asks: what iPXE or GRUB is to do next. It is given what becomes of each machine
 * and how the agent is started; knows no socket. A script holds the machine's capability, so it is for that machine alone.
 */
import { type Clock, deadline, type HttpAnswer, type HttpHandler, type Mac, plain } from "@slipway/base";
import type { Asker } from "../files/source.ts";
import { grubScript } from "../grub/script.ts";
import type { NextBoot } from "../hosts/host.ts";
import type { Hosts } from "../hosts/hosts.ts";
import { cardOf, type Presences } from "../hosts/presence.ts";
import type { InstallerStart } from "../http/installers.ts";
import { ipxeScript } from "../ipxe/script.ts";
import { nextGrubScript } from "./grub-scripts.ts";
import { nextIpxeScript } from "./ipxe-scripts.ts";
import type { AgentBoot, BootingMachine } from "./machine.ts";
import type { NextStep } from "./next-step.ts";
import { parseScriptUrl, type ScriptRequest } from "./script-request.ts";

export interface BootScriptsOptions {
  /** What becomes of each machine, and when that may have changed. */
  hosts: Pick<Hosts, "bootOf" | "onChange" | "get">;
  /** As for `firstScripts`. What a client says of it is not to be trusted: GRUB leaves the port out. */
  base(asker: Asker): string;
  /** How the agent is started on this machine; a capability for it is granted here. */
  agentBoot(machine: BootingMachine): AgentBoot;
  /** Machines that start an installer. */
  installers?: {
    /** Whether what starts it is known. */
    isReady(mac: Mac): boolean;
    /** Undefined: nothing yet, or what the machine boots has just changed. */
    startOf(mac: Mac, language: ScriptRequest["language"], isAgain: boolean): InstallerStart | undefined;
  };
  /** Who asks: a machine gets its own script and no other. */
  presences: Presences;
  clock: Clock;
  /** GRUB found nothing to start on the machine's disks. True: the machine is to start again. */
  nothingOnDisk?(mac: Mac): boolean;
  /** A script was served: the machine and what it is to do. */
  served?(machine: BootingMachine, action: NextBoot): void;
}

/** How long a machine with nothing to do is held; boot loaders and what lies between have less patience than agents. */
const HOLD_MS = 50_000;

/** iPXE for UEFI, as files of this server (`catalog.ts`): one that goes on by the card that its loader came by, and one that looks for cards itself. */
const IPXE = { x86_64: ["snponly.efi", "ipxe.efi"], aarch64: ["ipxe-arm64.efi", "ipxe-arm64.efi"] } as const;

/** Answers `/boot/<mac>.ipxe` and `/boot/<mac>.grub`: 200 with the script, 403 to every other machine, 404 for every other path. */
export function bootScripts(options: BootScriptsOptions): HttpHandler {
  return async ({ method, url, remote, signal }) => {
    const request = parseScriptUrl(url);
    if (request === undefined) return plain(404, "not found\n");
    if (method !== "GET" && method !== "HEAD") return plain(405, "method not allowed\n", { allow: "GET, HEAD" });
    const { architecture, firmware } = request;
    const presence = options.presences.of(remote);
    const { address } = presence;
    if (presence.is === "refused") return script(403, `${address}: ${presence.because}\n`);
    // What is shown goes before what is said: a machine may have its address by one card and speak of another.
    const mac = cardOf(presence) ?? request.mac;
    if (!isSameMachine(options.hosts, mac, request.mac)) return script(403, `${address} is another machine's\n`);

    if (request.wait && method === "GET") await untilWork(options, mac, signal);
    const machine = { mac, address, architecture, firmware };
    const self = options.base({ address }) + request.again;
    const next = nextStep(machine, { ...request, isRead: method === "GET" }, options);
    const text = textOf(request.language, next, self);
    if (method === "GET") options.served?.(machine, next.action);
    return script(200, text);
  };
}

function nextStep(
  machine: BootingMachine,
  request: ScriptRequest & { isRead: boolean },
  options: BootScriptsOptions,
): NextStep {
  let action = options.hosts.bootOf(machine.mac);
  if (action === "installer") {
    const start = request.isRead
      ? options.installers?.startOf(machine.mac, request.language, request.isAgain)
      : undefined;
    const base = options.base({ address: machine.address });
    const [byCard, alone] = IPXE[machine.architecture];
    const ipxe = [`${base}/${byCard}`, `${base}/${alone}`] as const;
    if (start !== undefined) return { action, start, ipxe };
    action = options.hosts.bootOf(machine.mac);
    if (action === "installer") return { action: "wait" };
  }
  if (action === "agent") return { action, agent: options.agentBoot(machine) };
  if (action !== "disk" || !request.nothingOnDisk) return { action };
  return { action, foundNothing: options.nothingOnDisk?.(machine.mac) === true ? "restart" : "leave" };
}

function textOf(language: ScriptRequest["language"], next: NextStep, self: string): string {
  return language === "grub" ? grubScript(nextGrubScript(next, self)) : ipxeScript(nextIpxeScript(next, self));
}

function isSameMachine(hosts: Pick<Hosts, "get">, one: Mac, other: Mac): boolean {
  return one === other || (hosts.get(one)?.macs.includes(other) ?? false);
}

/** Never from a cache: the next answer may be another. */
function script(status: number, body: string): HttpAnswer {
  return plain(status, body, { "cache-control": "no-store" });
}

/** Resolves when the machine no longer has to wait, the time is over, or the machine has gone. */
async function untilWork(
  { hosts, installers, clock }: BootScriptsOptions,
  mac: Mac,
  gone?: AbortSignal,
): Promise<void> {
  const limit = deadline(clock, HOLD_MS, gone);
  let stop = (): void => {};
  await new Promise<void>((resolve) => {
    const look = (): void => {
      const action = hosts.bootOf(mac);
      const isHeld = action === "wait" || (action === "installer" && installers?.isReady(mac) !== true);
      if (!isHeld || limit.signal.aborted) resolve();
    };
    stop = hosts.onChange(look);
    limit.signal.addEventListener("abort", () => resolve(), { once: true });
    look();
  });
  stop();
  limit.done();
}
