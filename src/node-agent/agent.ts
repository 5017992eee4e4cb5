/**
 * The node agent of ViNO: on each node with virtual machines it makes them as the node's VinoNodes want, through libvirt on the local socket, and
 * serves Redfish for them. `node/` decides and does, `guard/` stops it where the cluster is not the machines', `xml/` writes and reads libvirt's
 * descriptions, `libvirt/` speaks its protocol, `redfish/` serves. It keeps the authority of its certificates and what it was stopped for: everything
 * else is in the definitions that libvirt has, under the agent's mark.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, type Log, privateFolder, type Random } from "@slipway/base";
import type { Controller } from "@slipway/kube";
import type { Account } from "../bmc-service/accounts.ts";
import { nodeController } from "./controller.ts";
import { Guard } from "./guard/guard.ts";
import { VmHost } from "./host.ts";
import { openLibvirt } from "./libvirt/libvirt.ts";
import type { DomainSettings } from "./node/definition.ts";
import { type Links, systemLinks } from "./node/links.ts";
import { accountsFor } from "./redfish/accounts.ts";
import { serveRedfish } from "./redfish/serve.ts";
import { SecretReader } from "./secret-reader.ts";

export interface NodeAgentOptions {
  node: string;
  /** Of the node's VinoNodes. Unset: all. */
  namespace?: string;
  /** Of the node, at which Redfish is reached. */
  address: string;
  /** Of Redfish; 0: any free one. */
  port: number;
  /** libvirt's. */
  socket: string;
  /** Default: over the socket. */
  open?: typeof openLibvirt;
  links?: Links;
  /** Of the agent alone. */
  folder: string;
  settings: DomainSettings;
  /** Codes of stops that somebody has confirmed (`guard`). */
  confirmations?: readonly string[];
  fetchImage(url: string, to: string): Promise<void>;
  /** Has the log and all that leaves the process hide a value. */
  onSecret(value: string): void;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface NodeAgent {
  /** To be added to a manager. */
  controller: Controller;
  /** Of the Redfish service. */
  url: string;
  /** Closes the service; machines run on. */
  close(): Promise<void>;
}

/** Serves Redfish for no machines yet; they come with the controller. Rejects when address or folder can't be had. */
export async function startNodeAgent(options: NodeAgentOptions): Promise<NodeAgent> {
  const { node, address, port, socket, folder, settings, fetchImage, onSecret, clock, random, log } = options;
  const { links = systemLinks, open = openLibvirt } = options;
  privateFolder(folder);
  const images = join(folder, "images");
  await mkdir(images, { recursive: true, mode: 0o700 });
  const host = new VmHost({
    ...{ clock, log, links, settings, fetchImage, folder: images },
    guard: new Guard({ file: join(folder, "stopped.json"), clock, log }),
    open: (onEvent) => open({ socket, clock, onEvent }),
  });
  let accounts: readonly Account[] = [];
  const redfish = await serveRedfish({
    ...{ node, address, port, clock, random, log },
    folder: join(folder, "authority"),
    machines: () => host.vms(),
    accounts: () => accounts,
  });
  const controller = nodeController({
    ...{ node, host },
    ...(options.confirmations !== undefined && { confirmations: options.confirmations }),
    ...(options.namespace !== undefined && { namespace: options.namespace }),
    secrets: new SecretReader({ clock, onSecret }),
    redfish: { url: redfish.url, ca: redfish.ca },
    onUsers: (users) => {
      accounts = accountsFor(users);
    },
  });
  return {
    controller,
    url: redfish.url,
    async close() {
      await redfish.close();
      await host.close();
    },
  };
}
