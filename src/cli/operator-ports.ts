import { systemClock as clock, type Http, quietLog as log, cryptoRandom as random } from "@slipway/base";
import type { Client, Transport } from "@slipway/kube";
import type { HttpClients } from "../machines/http-clients.ts";
import { DEFAULT_SECRET } from "../operator/defaults.ts";
import { systemPorts } from "../operator/operator.ts";
import { settingsFrom } from "../operator/settings.ts";
import { SYSTEMS } from "../operator/systems.ts";
import { secrets } from "./outgoing.ts";

interface Asking {
  client: Client;
  transport: Transport;
  /** Of the operator. */
  namespace: string;
  clients: HttpClients;
  hosts: Parameters<typeof systemPorts>[3];
}

/** What an operator in this namespace would reach providers by, for commands that only look: with the environment's settings, without a log. The caller closes `clients`. */
export function operatorPorts({
  client,
  transport,
  namespace,
  clients,
  hosts,
}: Asking): ReturnType<typeof systemPorts> {
  const http = (ca: string | undefined): Http => clients.of(ca);
  const ports = { client, transport, clock, random, log, http, secrets, readNodeFile: async () => undefined };
  const settings = {
    namespace,
    secret: DEFAULT_SECRET,
    of: settingsFrom(process.env),
    bootUrl: "",
    pollMs: 0,
    leaderElection: false,
  } as const;
  return systemPorts(ports, settings, SYSTEMS, hosts);
}
