/**
 * What a simulated server starts from the network besides the agent: each installer fetches what its kernel's command line says, reads it as
 * strictly as is cheap, writes the disk that it names, and reports. SIMULATION: what it writes is its own name.
 */
import type { HttpRequest } from "@slipway/base";
import { loadAll } from "js-yaml";
import type { InstallerStart } from "../../netboot/http/installers.ts";
import type { AgentMachine } from "./server-parts.ts";

/** How an installer finds its files on the command line, which they are, and what is wrong with them. */
interface Format {
  name: string;
  at: RegExp;
  files: readonly string[];
  problem(text: string): string | undefined;
}

const FORMATS: readonly Format[] = [
  { name: "preseed", at: /^url=(http.*\/preseed\.cfg)$/, files: [""], problem: preseedProblem },
  { name: "kickstart", at: /^inst\.ks=(.*)$/, files: [""], problem: kickstartProblem },
  {
    name: "autoinstall",
    at: /^ds=nocloud;s=(.*\/)$/,
    files: ["meta-data", "user-data"],
    problem: (text) => yamlProblem(text, "autoinstall"),
  },
  {
    name: "harvester",
    at: /^harvester\.install\.config_url=(.*)$/,
    files: [""],
    problem: (text) => yamlProblem(text, "install"),
  },
];

/** What the machine does afterwards. */
export type InstallerEnd = "reboot" | "stop" | "again";

/** Installs, or stops where it can't. Resolves with what the machine does then; never rejects but for a power that is cut. */
export async function runInstaller(
  server: AgentMachine,
  start: InstallerStart,
  signal: AbortSignal,
): Promise<InstallerEnd> {
  if (start.is === "script") return runScript(server, start, signal);
  // A loader that gets no kernel asks for its script again.
  if (start.kernel.endsWith("/missing")) return "again";
  const format = FORMATS.find(({ at }) => start.commandLine.some((word) => at.test(word)));
  const folder = format && start.commandLine.map((word) => format.at.exec(word)?.[1]).find((url) => url !== undefined);
  if (format === undefined || folder === undefined) return "stop";
  const texts: string[] = [];
  for (const name of format.files) {
    const text = await fetched(server, folder + name, signal);
    if (text === undefined) return "stop";
    texts.push(text);
  }
  const text = texts.at(-1)!;
  return finish(server, { name: format.name, text, problem: format.problem(text) }, reportsIn(text), signal);
}

/** A user's script: it installs, and reports where it refers to the settings for that. */
async function runScript(
  server: AgentMachine,
  { url, settings }: Extract<InstallerStart, { is: "script" }>,
  signal: AbortSignal,
): Promise<InstallerEnd> {
  const text = await fetched(server, url, signal);
  if (text === undefined) return "stop";
  const problem = text.startsWith("#!ipxe") ? undefined : "it is no script";
  return finish(
    server,
    { name: "script", text, problem },
    { succeeded: settings["slipway-succeeded"], failed: settings["slipway-failed"] },
    signal,
  );
}

interface Reports {
  succeeded?: string | undefined;
  failed?: string | undefined;
}

async function finish(
  server: AgentMachine,
  { name, text, problem }: { name: string; text: string; problem: string | undefined },
  reports: Reports,
  signal: AbortSignal,
): Promise<InstallerEnd> {
  const { disks, clock, timings, faults } = server;
  const named = disks.find(({ facts }) => [facts.name, ...facts.byId].some((each) => text.includes(each)));
  const disk = named ?? (name === "script" ? disks[0] : undefined);
  const isCut = faults.powerCut("install");
  const failure = problem ?? faults.failure("install") ?? (disk === undefined ? "it names no disk of mine" : undefined);
  await clock.sleep(isCut ? timings.write / 20 : timings.write, signal);
  if (disk !== undefined) disk.content = { image: isCut || failure !== undefined ? "torn" : name, data: { text } };
  if (isCut) {
    server.restart();
    return "stop";
  }
  if (faults.mute("install")) return "stop";
  const url = failure === undefined ? reports.succeeded : reports.failed;
  if (url !== undefined) await sent(server, { method: "POST", url, body: failure ?? "" }, signal);
  return failure === undefined ? "reboot" : "stop";
}

function reportsIn(text: string): Reports {
  const find = (end: string): string | undefined =>
    new RegExp(`http://[^\\s'"]+/install/[^\\s'"]+/${end}`).exec(text)?.[0];
  return { succeeded: find("succeeded"), failed: find("failed") };
}

/** Undefined: there is no such file for this machine. */
async function fetched(server: AgentMachine, url: string, signal: AbortSignal): Promise<string | undefined> {
  return sent(server, { method: "GET", url }, signal);
}

/** As installers do it, five times where nobody answers. */
async function sent(
  { network, address, clock }: AgentMachine,
  request: Pick<HttpRequest, "method" | "url" | "body">,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let tries = 0; tries < 5; tries++)
    try {
      const { status, body } = await network.web({ headers: {}, ...request, remote: address, signal });
      return status === 200 ? String(body) : undefined;
    } catch {
      await clock.sleep(5_000, signal);
    }
  return undefined;
}

/** `owner question type value`, one a line (debconf-set-selections). */
function preseedProblem(text: string): string | undefined {
  const types = "string|select|multiselect|boolean|password|note";
  const wrong = text.split("\n").find((line) => line !== "" && !new RegExp(`^\\S+ \\S+ (${types})( .*)?$`).test(line));
  return wrong === undefined ? undefined : "a line is no answer";
}

function kickstartProblem(text: string): string | undefined {
  const count = (word: string): number => text.split("\n").filter((line) => line.split(" ")[0] === word).length;
  const sections = ["%packages", "%pre", "%post", "%onerror"].reduce((sum, word) => sum + count(word), 0);
  if (sections !== count("%end")) return "a section has no end";
  return count("ignoredisk") === 1 ? undefined : "it does not say which disk";
}

function yamlProblem(text: string, key: string): string | undefined {
  if (!text.startsWith("#cloud-config\n")) return "it is no cloud-config";
  const [value] = loadAll(text) as (Record<string, unknown> | undefined)[];
  return typeof value?.[key] === "object" ? undefined : `it has no ${key}`;
}
