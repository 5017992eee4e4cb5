import type { Clock, Log, Random } from "@slipway/base";
import { agentHandler } from "../agent/handler.ts";
import { bootScripts } from "../boot/boot-scripts.ts";
import { type FileSource, firstOf } from "../files/source.ts";
import type { AskedBoots } from "../hosts/asked-boots.ts";
import type { Presences } from "../hosts/presence.ts";
import type { Capabilities } from "../http/boot-capability.ts";
import { GrubSegments } from "../http/grub-segments.ts";
import { hostOf } from "../http/host-of.ts";
import { INSTALL_PATH, type Installers } from "../http/installers.ts";
import { type NetbootHttp, netbootHttp } from "../http/server.ts";
import { AddressedLogs } from "../logs/by-address.ts";
import { AGENT_PATH } from "../protocol/messages.ts";
import type { NetbootSettings } from "../settings.ts";
import { sendFullSegments } from "../sockets/full-segments.ts";
import type { InheritedSockets } from "../sockets/inherited.ts";
import { neighbours } from "../sockets/neighbours.ts";
import { serveSyslog } from "../syslog/server.ts";
import { udpOn } from "../tftp/datagrams.ts";
import { endedLine } from "../tftp/ended-line.ts";
import { serveTftp } from "../tftp/server.ts";
import type { TpmAuthorities } from "../tpm/authorities.ts";
import { agentBootOf } from "./agent-boot.ts";
import type { NetbootIdentity } from "./identity.ts";
import type { Memory } from "./memory.ts";
import type { Parts } from "./parts.ts";
import type { ReachedAt } from "./reached-at.ts";

/** What machines are answered from once they have an address. */
export interface Answers {
  settings: NetbootSettings;
  reached: ReachedAt;
  identity: Pick<NetbootIdentity, "pin" | "tls">;
  memory: Memory;
  /** For everybody, by TFTP and HTTP alike. */
  publicFiles: FileSource;
  /** For single machines. */
  files: FileSource;
  installers: Installers;
  capabilities: Capabilities;
  asked: AskedBoots;
  presences: Presences;
  authorities: TpmAuthorities | undefined;
  inherited: InheritedSockets | undefined;
}

/** Listens for what machines ask that have an address: TFTP, syslog, HTTP. Rejects with a `Fault` when a port can't be had; `parts` own what listens. */
export async function listen(
  answers: Answers,
  { parts, clock, random, log }: { parts: Parts; clock: Clock; random: Random; log: Log },
): Promise<NetbootHttp> {
  const {
    settings,
    reached,
    identity,
    memory,
    publicFiles,
    files,
    installers,
    capabilities,
    asked,
    presences,
    authorities,
    inherited,
  } = answers;
  const { hosts, logs, disks } = memory;
  const { address } = reached;
  const datagrams = udpOn(reached.on.name, inherited);
  const said = new AddressedLogs({ logs, presences, clock });

  const scripts = bootScripts({
    hosts,
    base: () => reached.url,
    agentBoot: (machine) => agentBootOf(machine, { settings, reached, pin: identity.pin, capabilities, asked, clock }),
    installers,
    presences,
    clock,
    nothingOnDisk: (mac) => disks.nothingFound(mac),
    served(machine, action) {
      hosts.seen(machine);
      const what = typeof action === "string" ? action : "chain";
      logs.append(machine.mac, "http", `its script says: ${what}`, clock.now());
    },
  });
  const onLine = (host: string, line: string): void => logs.append(host, "agent", line, clock.now());
  const makers = authorities === undefined ? {} : { authorities };
  const agents = agentHandler({ hosts, capabilities, asked, presences, clock, random, log, onLine, ...makers });
  const segments = new GrubSegments({
    isOnLink: (address) => neighbours(reached.on.name).has(address),
    enlarge: sendFullSegments,
    log,
  });
  const http = parts.own(
    await netbootHttp({
      files: firstOf(publicFiles, files),
      hostOf: hostOf({ hosts, capabilities }),
      prepare: (request, bytes) => segments.prepare(request, bytes),
      clock,
      handlers: { "/boot/": scripts, [`${AGENT_PATH}/`]: agents, [INSTALL_PATH]: installers.handler },
      host: address,
      port: settings.http.port,
      tls: { port: settings.http.tlsPort, ...identity.tls },
      onAnswered({ remote, method, path, status, bytes, complete, ms }) {
        // What the agent has to say it says by itself.
        if (path.startsWith(`${AGENT_PATH}/`)) return;
        const sent = `${status}, ${bytes} bytes in ${(ms / 1000).toFixed(2)} s`;
        said.append(remote, "http", `${method} ${path}: ${sent}${complete ? "" : ", broken off"}`);
      },
      log,
    }),
  );
  if (settings.tftp.enabled)
    parts.own(
      await serveTftp({
        files: publicFiles,
        clock,
        address,
        singlePort: settings.tftp.singlePort,
        datagrams,
        onEnd: (ended) => said.append(ended.client.address, "tftp", endedLine(ended)),
      }),
    );
  if (settings.syslog.enabled)
    parts.own(await serveSyslog({ address, datagrams, onLine: (from, line) => said.append(from, "syslog", line) }));
  return http;
}
