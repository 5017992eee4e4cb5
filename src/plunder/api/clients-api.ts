/** What the command asks on the owner's socket: issue, list and revoke client certificates. Never over the network. */
import { type HttpHandler, json } from "@slipway/base";
import { z } from "zod";
import type { NetbootIdentity } from "../../netboot/service/identity.ts";
import { clientFileText } from "../client/client-file.ts";
import { checkedDocument, readDocument } from "../files/document.ts";
import type { Clients } from "./clients.ts";
import { native } from "./envelope.ts";

const PATH = "/v1/plunder/clients";

/** Whether a path is answered here. */
export function isOfClients(path: string): boolean {
  return path === PATH || path.startsWith(`${PATH}/`);
}

const Wanted = z.strictObject({ name: z.string("a name is needed") });

/** `GET|POST /v1/plunder/clients`, `DELETE /v1/plunder/clients/NAME`. */
export function clientsApi(
  clients: Clients,
  place: { address: string; port: number; identity(): Pick<NetbootIdentity, "tls" | "authority"> },
): HttpHandler {
  return async ({ method, url, body = "" }) => {
    const { pathname } = new URL(url);
    const name = decodeURIComponent(pathname.slice(PATH.length + 1));
    try {
      if (name === "" && method === "GET") return json(200, { clients: clients.list() });
      if (name === "" && method === "POST") {
        const wanted = checkedDocument(Wanted, readDocument(body, "the body"), "the body");
        const { certificatePem, keyPem } = await clients.issue(wanted.name);
        const { tls, authority } = place.identity();
        const credentials = { certificatePem, keyPem, authorityPem: authority };
        const { address, port } = place;
        return json(200, { file: clientFileText({ address, port, certificatePem: tls.cert, credentials }) });
      }
      if (name !== "" && method === "DELETE") {
        await clients.revoke(name);
        return json(200, {});
      }
      return json(405, { code: "MethodNotAllowed", message: `${method} is not served` });
    } catch (error) {
      return native({ error });
    }
  };
}
