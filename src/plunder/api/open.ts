/** plunder's API over a netboot: what it needs in netboot's folder, and who is served. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault, type HttpHandler, json, privateFolder, replacePrivateFile } from "@slipway/base";
import type { MoreApi, ServedParts } from "../../netboot/service/more-api.ts";
import { textOf } from "../../pki/shelf.ts";
import { sshKeyPair } from "../../pki/ssh-keys.ts";
import { DeploymentBook } from "../deployments/book.ts";
import { Deployer } from "../deployments/deployer.ts";
import { inherited } from "../files/deployment.ts";
import { isSaid } from "../files/texts.ts";
import { forgetHost } from "../ssh/known-hosts.ts";
import { openSsh } from "../ssh/open-ssh.ts";
import { restartBySsh } from "../ssh/restart.ts";
import type { OpenShell } from "../ssh/shell.ts";
import { isNative, plunderServer } from "./api.ts";
import { Clients } from "./clients.ts";
import { clientsApi, isOfClients } from "./clients-api.ts";
import { isPlunders } from "./endpoints.ts";
import { Maps } from "./maps.ts";

/** Of a client's certificate. */
const VALID_DAYS = 365;

/** `deploys`: deployments are carried out here; else objects of a cluster say what is installed. Rejects with a `Fault` when its folder can't be had. */
export async function openPlunderApi(parts: ServedParts, { deploys }: { deploys: boolean }): Promise<MoreApi> {
  const { settings, hosts, installers, dhcp, url, address, dir, hasCluster, clock, random, log } = parts;
  const folder = join(dir, "plunder");
  privateFolder(folder);
  const clients = await Clients.open(
    join(folder, "clients.json"),
    (name) => issued(join(dir, "pki"), name, clock),
    clock,
  );
  const { identity, authorizedKey } = await ownKey(folder);
  const knownHosts = join(folder, "known_hosts");
  const book = await DeploymentBook.open(fileStore(join(folder, "deployments.json")), random);
  const deployer = deploys
    ? new Deployer({
        ...{
          book,
          hosts,
          installers,
          hasCluster,
          url,
          images: Object.keys(settings.boot.images),
          ownKey: authorizedKey,
          clock,
          log,
        },
        order: (host, wanted, id) => parts.order(host, wanted, id),
        async installed({ deployment: { mac, config } }) {
          // It has made new keys: the next one that it shows is recorded.
          const address = isSaid(config.address) ? config.address : hosts.get(mac)?.address;
          if (address !== undefined) await forgetHost(knownHosts, address);
        },
        async restart({ address = "", macs }, { deployment: { config } }, signal) {
          const { username } = inherited(config, book.globalConfig);
          if (!isSaid(username) || address === "")
            throw new Fault("Refused", macs[0]!, "its system is not reached by SSH");
          const open = openSsh({ ...{ clock, identity, knownHosts }, user: username, recordsNew: true });
          await restartBySsh(open, { address, macs }, signal);
        },
      })
    : undefined;
  const maps = new Maps({ folder, open: shells(book, { clock, identity, knownHosts }), clock, log });
  const serve = plunderServer({
    deployments: deployer && { book, deployer },
    maps,
    leases: () => dhcp?.leases() ?? [],
    ...{ hosts, clock, settings, address, log },
  });
  const handler: HttpHandler = (request) => {
    const client = request.peer && clients.nameOf(request.peer.fingerprint, request.peer.commonName);
    // `admits` has looked already; an answer without it would be for nobody.
    return client === undefined
      ? Promise.resolve(json(403, { code: "Forbidden", message: "no client certificate" }))
      : serve(request, client);
  };
  const manage = clientsApi(clients, { address, port: settings.api?.port ?? 0, identity: () => parts.identity() });
  const local: HttpHandler = (request) =>
    isOfClients(new URL(request.url).pathname) ? manage(request) : serve(request, "owner");
  return {
    answers: (path) => (isPlunders(path) || isNative(path)) && !isOfClients(path),
    handler,
    answersLocally: isNative,
    local,
    admits: ({ fingerprint, commonName }) => clients.nameOf(fingerprint, commonName) !== undefined,
    async close() {
      await maps.close();
      await deployer?.close();
    },
  };
}

/** SSH to the machines of deployments, as the user that they were given. The key that one shows after its installation is recorded, and checked from then on. */
function shells(
  book: DeploymentBook,
  ports: Pick<Parameters<typeof openSsh>[0], "clock" | "identity" | "knownHosts">,
): OpenShell {
  return async (host, signal) => {
    const { deployment, ended } = book.byAddress(host);
    const { username } = inherited(deployment.config, book.globalConfig);
    if (!isSaid(username)) throw new Fault("Invalid", host, "its deployment names no user");
    return openSsh({ ...ports, user: username, recordsNew: ended?.ok === true })(host, signal);
  };
}

async function ownKey(folder: string): Promise<{ identity: string; authorizedKey: string }> {
  const identity = join(folder, "id_ed25519");
  const authorizedKey = (await textOf(`${identity}.pub`)).trim();
  if (authorizedKey !== "" && (await textOf(identity)) !== "") return { identity, authorizedKey };
  const made = sshKeyPair("slipway-netboot");
  await replacePrivateFile(identity, made.privateKey);
  await replacePrivateFile(`${identity}.pub`, `${made.authorizedKey}\n`);
  return { identity, authorizedKey: made.authorizedKey };
}

async function issued(pki: string, name: string, clock: ServedParts["clock"]) {
  const { issueClient } = await import("../../pki/authority.ts");
  const authority = {
    certificatePem: await readFile(join(pki, "ca.pem"), "utf8"),
    keyPem: await readFile(join(pki, "ca-key.pem"), "utf8"),
  };
  return issueClient(authority, {
    commonName: name,
    organizations: ["slipway:plunder-clients"],
    clock,
    validDays: VALID_DAYS,
  });
}

function fileStore(file: string) {
  return {
    read: async () => (await textOf(file)) || undefined,
    write: (text: string) => replacePrivateFile(file, text),
  };
}
