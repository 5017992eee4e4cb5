import { Fault } from "@slipway/base";
import type { FastifyInstance } from "fastify";
import { cookieOf, setCookie } from "./cookies.ts";
import { ofToken } from "./credentials.ts";
import { CALLBACK, Oidc } from "./oidc.ts";
import type { Desk } from "./ports.ts";
import { signIn } from "./session-routes.ts";

const COOKIE = "slipway-console-oidc";
const PATH = "/console/oidc";

/** Sign-in by a provider of identities: there, and back. */
export function oidcRoutes(app: FastifyInstance, desk: Desk): void {
  const { oidc: settings, reach } = desk;
  if (settings === undefined) {
    for (const path of [PATH, CALLBACK])
      app.get(path, async () => {
        throw new Fault("NotFound", "console", "sign-in by OpenID Connect is not set up", {
          remedy: "start it with --console-oidc-issuer",
        });
      });
    return;
  }
  const oidc = new Oidc(settings, desk);

  app.get(PATH, async (request, reply) => {
    const { return: returnTo } = request.query as Record<string, unknown>;
    const { location, cookie } = await oidc.begin(returnTo);
    // The provider sends the browser back from its own site: a strict cookie would stay behind.
    setCookie(request, reply, reach, { name: COOKIE, value: cookie, path: PATH, site: "Lax", maxAge: 600 });
    return reply.redirect(location, 302);
  });

  app.get(CALLBACK, async (request, reply) => {
    const cookie = cookieOf(request, COOKIE);
    setCookie(request, reply, reach, { name: COOKIE, value: "", path: PATH, site: "Lax", maxAge: 0 });
    const { token, returnTo } = await oidc.end(cookie, request.query as Record<string, unknown>);
    await signIn(desk, { credentials: ofToken(token), by: "oidc" }, request, reply);
    return reply.redirect(returnTo, 302);
  });
}
