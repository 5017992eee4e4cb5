import { mkdir, readFile, writeFile } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import { dirname, resolve } from "node:path";
import { systemClock as clock, Fault, replacePrivateFile } from "@slipway/base";
import { jsonLog } from "@slipway/base/json-log";
import type { Command } from "commander";
import type { KnownClient } from "../plunder/api/clients.ts";
import { type ClientFile, clientFileText, readClientFile } from "../plunder/client/client-file.ts";
import { readPlunderFiles, shownImport } from "../plunder/import/import.ts";
import { since } from "../views/since.ts";
import { withNetboot } from "./netboot-client.ts";
import { portNumber } from "./option-values.ts";
import { say, secrets } from "./outgoing.ts";
import { untilStopped } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

/** `slipway plunder`: for those who come from plunder. */
export const verb: Verb = (program) => {
  const plunder = program
    .command("plunder")
    .description("Serve plunder's clients, and read plunder's files.")
    .addHelpText(
      "after",
      `
Examples:
  slipway netboot --config netboot.yaml --plunder-api
  slipway plunder client                            # until Ctrl-C; pldrctl reads the plunderclient.yaml that it writes
  slipway plunder client --issue ci --out ci.yaml   # a client certificate for another machine, or for Secret plunder
  slipway plunder client --credentials ci.yaml      # the same on that machine
  slipway plunder clients --revoke ci
  slipway plunder import config.yaml deployments.yaml --out imported/`,
    );
  const dirOption = (command: Command): Command =>
    command.option("--dir <folder>", "folder of the netboot; unset: the ones that netboot, up and lab use");
  dirOption(plunder.command("client"))
    .description("Pass what plunder's clients ask on to a netboot, with a client certificate, until Ctrl-C.")
    .option(
      "--credentials <file>",
      "file of --issue; unset: a certificate is issued for this run, and revoked at its end",
    )
    .option("--issue <name>", "issue a certificate of this name, write it to the file of --out, and end")
    .option("--port <number>", "on loopback; 0: any free one", portNumber, 0)
    .option("--out <file>", "what is written for plunder's clients", "plunderclient.yaml")
    .action(client);
  dirOption(plunder.command("clients"))
    .description("List the client certificates of a netboot, or revoke one.")
    .option("--revoke <name>", "its certificate is good for nothing from now on")
    .action(clients);
  plunder
    .command("import")
    .description("Read plunder's configuration and deployment files, and show what each field becomes.")
    .argument("<files...>", "configuration, deployments, or plunder's answers with either; YAML or JSON")
    .option("--out <folder>", "write netboot's settings and the hosts there, too")
    .action(importFiles);
};

interface ClientOptions {
  credentials?: string;
  issue?: string;
  port: number;
  out: string;
  dir?: string;
}

async function client({ credentials, issue, port, out, dir }: ClientOptions): Promise<void> {
  if (issue !== undefined) {
    const file = await issued(issue, dir);
    await replacePrivateFile(resolve(out), clientFileText(file));
    say(`${out}: a certificate for ${issue}; it is a secret`);
    return;
  }
  const { startProxy } = await import("../plunder/client/proxy.ts");
  const log = jsonLog({ level: "info", secrets });
  const name = `${userInfo().username}@${hostname()}-${process.pid}`.replaceAll(/[^A-Za-z0-9._@-]/g, "-").slice(0, 63);
  const upstream = credentials === undefined ? await issued(name, dir) : await credentialsIn(credentials);
  const stopped = untilStopped();
  try {
    const proxy = await startProxy({ upstream, port, clock, log, uid: process.geteuid?.() });
    await replacePrivateFile(resolve(out), clientFileText(proxy.file));
    say(`${out}: plunder's clients are served at https://${proxy.file.address}:${proxy.file.port}, as this user alone`);
    await stopped;
    await proxy.close();
  } finally {
    if (credentials === undefined) await revoke(name, dir);
  }
}

async function credentialsIn(file: string): Promise<ClientFile> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new Fault("MissingInput", file, "can't be read", { cause });
  });
  return readClientFile(text, file);
}

async function issued(name: string, dir: string | undefined): Promise<ClientFile> {
  const { file } = await withNetboot(dir, (netboot) =>
    netboot.ask<{ file: string }>("POST", "/plunder/clients", { name }),
  );
  return readClientFile(file, "netboot's answer");
}

async function revoke(name: string, dir: string | undefined): Promise<void> {
  await withNetboot(dir, (netboot) => netboot.ask("DELETE", `/plunder/clients/${encodeURIComponent(name)}`));
}

async function clients({ revoke: name, dir }: { revoke?: string; dir?: string }): Promise<void> {
  if (name !== undefined) {
    await revoke(name, dir);
    say(`${name}: revoked`);
    return;
  }
  const { clients: known } = await withNetboot(dir, (netboot) =>
    netboot.ask<{ clients: KnownClient[] }>("GET", "/plunder/clients"),
  );
  for (const { name: each, issuedAt, revokedAt } of known)
    say(
      `${each}  issued ${since(clock.now() - issuedAt)} ago${revokedAt === undefined ? "" : `, revoked ${since(clock.now() - revokedAt)} ago`}`,
    );
}

async function importFiles(files: string[], { out }: { out?: string }): Promise<void> {
  const texts = await Promise.all(
    files.map(async (name) => ({
      name,
      text: await readFile(name, "utf8").catch((cause: unknown) => {
        throw new Fault("MissingInput", name, "can't be read", { cause });
      }),
    })),
  );
  const imported = readPlunderFiles(texts);
  for (const line of shownImport(imported)) say(line);
  if (out === undefined) return;
  await mkdir(out, { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(imported.files)) {
    const path = resolve(out, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode: 0o600 });
    say(`written: ${path}`);
  }
}
