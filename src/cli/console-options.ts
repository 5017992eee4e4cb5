import { readFile } from "node:fs/promises";
import { systemClock as clock, Fault, type Http, isFault, type Log, cryptoRandom as random } from "@slipway/base";
import type { Connection } from "@slipway/kube/http";
import { type Command, Option } from "commander";
import type { Console } from "../console/server/console.ts";
import type { ApiAddress } from "../console/server/credentials.ts";
import { CONSOLE_PORT } from "../console/server/port.ts";
import type { ConsoleSettings } from "../console/server/ports.ts";
import type { MachineOutputs } from "../inventory/outputs/outputs.ts";
import type { Laptop } from "../laptop/laptop.ts";
import { HttpClients } from "../machines/http-clients.ts";
import { httpsUrl, httpUrl, type ListenAddress, portNumber } from "./option-values.ts";
import { secrets } from "./outgoing.ts";

/** What an operator's console is set to. */
export interface ConsoleOptions {
  consolePort?: number;
  consoleUrl?: string;
  consoleCert?: string;
  consoleKey?: string;
  consoleOidcIssuer?: string;
  consoleOidcClient?: string;
  consoleOidcCa?: string;
}

/** Adds the options of an operator's console. */
export function addConsoleOptions(command: Command): Command {
  return command
    .option(
      "--console-port <port>",
      "where the web console listens, on the address of --health-listen; unset: there is none",
      portNumber,
    )
    .option("--console-url <url>", "base URL at which browsers reach it, such as that of a proxy", httpUrl)
    .option("--console-cert <file>", "PEM certificate of the console; unset: HTTP, for behind a proxy that speaks TLS")
    .option("--console-key <file>", "PEM key of that certificate")
    .addOption(
      new Option(
        "--console-oidc-issuer <url>",
        "sign in by this OpenID provider, whose ID tokens the Kubernetes API takes; needs --console-url",
      ).argParser(httpsUrl),
    )
    .option("--console-oidc-client <id>", "the console's client id there")
    .option("--console-oidc-ca <file>", "PEM certificates that the provider is verified by; unset: the system's");
}

interface OperatorPorts {
  connection: Connection;
  clients: HttpClients;
  log: Log;
  env: Readonly<Record<string, string | undefined>>;
  outputs: MachineOutputs;
}

/** Starts the console that the options ask for, if any. Of the operator's connection it gets where the API is, and none of its credentials. */
export async function operatorConsole(
  options: ConsoleOptions & { healthListen: ListenAddress },
  { connection, clients, log, env, outputs }: OperatorPorts,
): Promise<Console | undefined> {
  const { consolePort: port, consoleUrl } = options;
  if (port === undefined) return undefined;
  const tls = await tlsOf(options);
  const ca = options.consoleOidcCa === undefined ? undefined : await readFile(options.consoleOidcCa, "utf8");
  const oidc = oidcOf(options, env);
  return await start(
    { api: connection, http: clients.of(ca), log, outputs },
    {
      host: options.healthListen.host,
      port,
      ...(tls !== undefined && { tls }),
      ...(consoleUrl !== undefined && { urls: [consoleUrl] }),
      ...(oidc !== undefined && { oidc }),
    },
  );
}

interface LaptopConsoleOptions {
  host: string;
  /** Unset: the usual one, or any free one where that is taken. */
  port: number | undefined;
  log: Log;
}

/** Starts a laptop's console. On loopback it speaks HTTP, elsewhere TLS with the certificate of the laptop's API. */
export async function laptopConsole(
  { url, identity, outputs }: Pick<Laptop, "url" | "identity" | "outputs">,
  { host, port, log }: LaptopConsoleOptions,
): Promise<Console> {
  const { cert, key, clientCa: ca } = identity.serving;
  const clients = new HttpClients();
  const api: ApiAddress = { server: url, ...(ca !== undefined && { ca }) };
  const isLoopback = /^(127\.|localhost$|::1$)/.test(host);
  const at = (chosen: number) =>
    start(
      { api, http: clients.of(undefined), log, outputs },
      { host, port: chosen, ...(!isLoopback && { tls: { cert, key } }) },
    );
  if (port !== undefined) return await at(port);
  return await at(CONSOLE_PORT).catch((error: unknown) => {
    if (isFault(error, "AlreadyExists")) return at(0);
    throw error;
  });
}

/** Loaded only where a console is wanted. */
async function start(
  { api, ...ports }: { api: ApiAddress; http: Http; log: Log; outputs: MachineOutputs },
  settings: ConsoleSettings,
): Promise<Console> {
  const [{ startConsole }, { transportOf }, { loadPage }] = await Promise.all([
    import("../console/server/console.ts"),
    import("../console/server/credentials.ts"),
    import("../console/server/page.ts"),
  ]);
  const transport = (credentials: Parameters<typeof transportOf>[1]) => transportOf(api, credentials);
  return await startConsole({ clock, random, ...ports, transport, page: () => loadPage() }, settings);
}

async function tlsOf({
  consoleCert: cert,
  consoleKey: key,
}: ConsoleOptions): Promise<{ cert: string; key: string } | undefined> {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw new Fault("BadRequest", "operator", "--console-cert and --console-key belong together", {
      remedy: "give both, or none",
    });
  return { cert: await readFile(cert, "utf8"), key: await readFile(key, "utf8") };
}

function oidcOf(options: ConsoleOptions, env: OperatorPorts["env"]): ConsoleSettings["oidc"] {
  const { consoleOidcIssuer: issuer, consoleOidcClient: clientId, consoleUrl: url } = options;
  if (issuer === undefined && clientId === undefined) return undefined;
  if (issuer === undefined || clientId === undefined || url === undefined)
    throw new Fault("BadRequest", "operator", "sign-in by OpenID Connect is not wholly set up", {
      remedy: "give --console-oidc-issuer, --console-oidc-client and --console-url",
    });
  const clientSecret = env.CONSOLE_OIDC_CLIENT_SECRET || undefined;
  secrets.add(clientSecret);
  return { issuer, clientId, url, ...(clientSecret !== undefined && { clientSecret }) };
}
