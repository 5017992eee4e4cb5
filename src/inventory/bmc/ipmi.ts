import { type Clock, Fault } from "@slipway/base";
import type { IpmiAddress } from "./address.ts";
import type {
  Bmc,
  BmcCall,
  BmcCredentials,
  BmcIdentity,
  BootChoice,
  BootDevice,
  PowerAction,
  PowerState,
} from "./bmc.ts";
import { type Span, untilSeen, within } from "./effect.ts";
import { Places } from "./places.ts";
import type { RunProgram } from "./run-program.ts";

export interface IpmiOptions {
  address: IpmiAddress;
  credentials: BmcCredentials;
  run: RunProgram;
  clock: Clock;
}

export const IPMITOOL = "ipmitool";
const READ_MS = 60_000;
const WRITE_MS = 120_000;
const SOFT_OFF_MS = 600_000;

/** Boot device selector (IPMI 2.0 table 28-14, parameter 5, data 2, bits 5 to 2), and ipmitool's word for it. */
const DEVICES: Partial<Readonly<Record<BootDevice, { word: string; selector: number }>>> = {
  pxe: { word: "pxe", selector: 1 },
  disk: { word: "disk", selector: 2 },
  default: { word: "none", selector: 0 },
};

const WORDS: Readonly<Record<Exclude<PowerAction, "restart">, string>> = {
  on: "on",
  off: "off",
  "soft-off": "soft",
  reset: "reset",
};

/**
 * One machine by IPMI 2.0, through the program ipmitool. The password goes by its environment, never by its command line. IPMI's own
 * protection is weak: its networks are for BMCs alone.
 */
export function ipmiBmc({ address, credentials, run, clock }: IpmiOptions): Bmc {
  const on = `ipmi://${address.host}`;
  // Most BMCs serve one session well.
  const places = new Places(1);
  const ipmi = async (words: readonly string[], signal: AbortSignal): Promise<string> => {
    const { args, env } = ipmiSession(address, credentials);
    const ran = await places.take(() => run({ program: IPMITOOL, args: [...args, ...words], env, signal }), signal);
    if (ran.code === 0) return ran.stdout;
    throw ipmiRefused(on, words, ran.stderr);
  };
  const readPower = async (signal: AbortSignal): Promise<PowerState> => {
    const [, state] = /Chassis Power is (on|off)/i.exec(await ipmi(["chassis", "power", "status"], signal)) ?? [];
    if (state === undefined) throw new Fault("Unavailable", on, "the BMC does not know whether the machine is on");
    return state.toLowerCase() === "on" ? "on" : "off";
  };
  const order = async (action: Exclude<PowerAction, "restart">, span: Span): Promise<void> => {
    const wanted = action === "on" ? "on" : "off";
    if (action !== "reset" && (await readPower(span.signal)) === wanted) return;
    await ipmi(["chassis", "power", WORDS[action]], span.signal);
    if (action === "reset") return;
    await untilSeen(span, {
      on,
      what: `power ${action}`,
      seen: async (signal) => (await readPower(signal)) === wanted,
    });
  };
  const power = (action: Exclude<PowerAction, "restart">, call: BmcCall): Promise<void> =>
    within({ clock, call, defaultMs: action === "soft-off" ? SOFT_OFF_MS : WRITE_MS, on }, (span) =>
      order(action, span),
    );
  const unsupported = async (what: string): Promise<never> => {
    throw new Fault("Unsupported", on, `IPMI has no ${what}`, { remedy: "use a redfish address" });
  };
  return {
    readPower: (call = {}) => within({ clock, call, defaultMs: READ_MS, on }, ({ signal }) => readPower(signal)),
    async setPower(action, call = {}) {
      if (action !== "restart") return await power(action, call);
      await power("off", call);
      await power("on", call);
    },
    bootFrom: (device, choice, call = {}) =>
      within({ clock, call, defaultMs: WRITE_MS, on }, async (span) => {
        const known = DEVICES[device];
        if (known === undefined) return await unsupported(`boot from ${device}`);
        const flags = async (signal: AbortSignal): Promise<boolean> =>
          isSet(await ipmi(["chassis", "bootparam", "get", "5"], signal), known.selector, choice);
        if (!(await flags(span.signal))) {
          // Without this the BMC forgets the device after a minute (IPMI 2.0 table 28-14, parameter 3). Not every BMC knows it.
          await ipmi(["raw", "0x00", "0x08", "0x03", "0x08"], span.signal).catch(() => {});
          await ipmi(["chassis", "bootdev", known.word, ...optionsOf(choice)], span.signal);
          await untilSeen(span, { on, what: `boot from ${device}`, seen: flags });
        }
        return { once: choice.once };
      }),
    insertMedia: () => unsupported("virtual media"),
    ejectMedia: () => unsupported("virtual media"),
    identity: (call = {}) =>
      within({ clock, call, defaultMs: READ_MS, on }, async ({ signal }) =>
        identityIn(
          await ipmi(["fru", "print", "0"], signal).catch(unlessRefused),
          await ipmi(["mc", "guid"], signal).catch(unlessRefused),
        ),
      ),
    firmwareSettings: async () => [],
    close: async () => {},
  };
}

/** What a BMC does not keep is left out; that it is not reached is a failure. */
function unlessRefused(error: unknown): string {
  if (error instanceof Fault && error.code === "Unsupported" && error.on !== IPMITOOL) return "";
  throw error;
}

function optionsOf({ once, mode }: BootChoice): string[] {
  const options = [...(mode === "UEFI" ? ["efiboot"] : []), ...(once ? [] : ["persistent"])];
  return options.length === 0 ? [] : [`options=${options.join(",")}`];
}

/** Reads `Boot parameter data: e004000000`. */
function isSet(text: string, selector: number, { once, mode }: BootChoice): boolean {
  const [, hex] = /Boot parameter data:\s*([0-9a-f]{4,})/i.exec(text) ?? [];
  if (hex === undefined) return false;
  const [flags = 0, device = 0] = Buffer.from(hex, "hex");
  const [isValid, isPersistent, isEfi] = [0x80, 0x40, 0x20].map((bit) => (flags & bit) !== 0);
  const set = isValid ? (device >> 2) & 0x0f : 0;
  if (set !== selector) return false;
  return selector === 0 || (isPersistent === !once && (mode === undefined || isEfi === (mode === "UEFI")));
}

function identityIn(fru: string, guid: string): BmcIdentity {
  const field = (text: string, name: string): string | undefined =>
    new RegExp(`^\\s*${name}\\s*:\\s*(\\S.*?)\\s*$`, "m").exec(text)?.[1];
  const manufacturer = field(fru, "Product Manufacturer") ?? field(fru, "Board Mfg");
  const model = field(fru, "Product Name") ?? field(fru, "Board Product");
  const serial = field(fru, "Product Serial") ?? field(fru, "Chassis Serial");
  const uuid = field(guid, "System GUID")?.toLowerCase();
  return {
    macs: [],
    system: "",
    ...(manufacturer !== undefined && { manufacturer }),
    ...(model !== undefined && { model }),
    ...(serial !== undefined && { serial }),
    ...(uuid !== undefined && { uuid }),
  };
}

/** How ipmitool reaches a BMC: the words before the command. The password is in the environment alone. */
export function ipmiSession({ host, port, privilege }: IpmiAddress, { username, password }: BmcCredentials) {
  const session = ["-I", "lanplus", "-H", host, "-p", String(port), "-U", username];
  return { args: [...session, "-L", privilege, "-E", "-N", "5", "-R", "3"], env: { IPMI_PASSWORD: password } };
}

/** ipmitool ends with 1 whatever happened; the cases differ by what it wrote. */
export function ipmiRefused(on: string, words: readonly string[], stderr: string): Fault {
  const said = stderr.trim().split("\n").slice(-3).join("; ").slice(0, 300);
  const what = `${words.slice(0, 3).join(" ")}: ${said === "" ? "ipmitool failed" : said}`;
  if (
    /RAKP \d.*(HMAC|unauthorized|privilege)|unauthorized name|invalid role|Insufficient privilege|password/i.test(
      stderr,
    )
  )
    return new Fault("BadCredentials", on, what, {
      remedy: "correct user name and password in the Secret of credentialsName",
    });
  if (/Unable to establish|Error: no response|timed? ?out|Address lookup|Could not open socket|Node busy/i.test(stderr))
    return new Fault("Unavailable", on, what);
  if (/Invalid command|not supported|Parameter out of range|Invalid data field/i.test(stderr))
    return new Fault("Unsupported", on, what);
  return new Fault("Unavailable", on, what);
}
