/**
 * The command `host` of a jump host: lists the sub-cluster's hosts, shows and switches their power by Redfish. Python without further
 * packages, which the image of the original has. The password is read from a file of the one host and is on no command line.
 */
export const HOST_COMMAND = String.raw`#!/usr/bin/env python3
"""host list | host power NAME | host reboot NAME [TYPE] | host types NAME

TYPE is a reset type of Redfish: GracefulRestart (default), ForceRestart, On, ForceOff, GracefulShutdown, PowerCycle, Nmi.
"""
import base64, json, os, ssl, sys, urllib.error, urllib.request
from urllib.parse import urljoin, urlsplit

HOSTS = os.environ.get("SIP_HOSTS", "/etc/opt/sip/hosts")
CREDENTIALS = os.environ.get("SIP_BMC", "/etc/opt/sip/bmc")


def fail(text):
    print("host: " + text, file=sys.stderr)
    sys.exit(1)


def hosts():
    with open(HOSTS) as file:
        return json.load(file)


def host(name):
    for each in hosts():
        if each["name"] == name:
            return each
    fail("there is no host %s; host list shows them" % name)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Redfish:
    def __init__(self, of):
        bmc = of.get("bmc")
        if bmc is None or "origin" not in bmc:
            fail("%s has no management controller that speaks Redfish" % of["name"])
        self.origin = bmc["origin"]
        self.system = bmc.get("system")
        context = ssl.create_default_context()
        if bmc.get("disableCertificateVerification"):
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        self.opener = urllib.request.build_opener(NoRedirect, urllib.request.HTTPSHandler(context=context))
        secret = ":".join(self.read(of["name"], key) for key in ("username", "password"))
        self.authorization = "Basic " + base64.b64encode(secret.encode()).decode()

    def read(self, name, key):
        with open(os.path.join(CREDENTIALS, name + "." + key)) as file:
            return file.read()

    def ask(self, path, body=None):
        url = urljoin(self.origin, path)
        if urlsplit(url)[:2] != urlsplit(self.origin)[:2]:
            fail("the management controller points to another server")
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        request = urllib.request.Request(url, data=data, headers=headers)
        request.add_unredirected_header("Authorization", self.authorization)
        try:
            with self.opener.open(request, timeout=30) as answer:
                text = answer.read(1 << 20)
        except urllib.error.HTTPError as error:
            fail("%s answered %d" % (url, error.code))
        except OSError as error:
            fail("%s: %s" % (url, getattr(error, "reason", error)))
        return json.loads(text) if text.strip() else {}

    def path(self):
        if self.system is None:
            members = self.ask("/redfish/v1/Systems").get("Members", [])
            if len(members) != 1:
                fail("the management controller has %d systems, and the host's address names none" % len(members))
            self.system = members[0]["@odata.id"]
        return self.system

    def reset_action(self):
        system = self.ask(self.path())
        action = system.get("Actions", {}).get("#ComputerSystem.Reset")
        if action is None:
            fail("the system can't be reset")
        return action["target"], action.get("ResetType@Redfish.AllowableValues")


def main(words):
    if words == ["list"]:
        for each in hosts():
            print(each["name"])
    elif len(words) == 2 and words[0] == "power":
        redfish = Redfish(host(words[1]))
        print(redfish.ask(redfish.path()).get("PowerState", "unknown"))
    elif len(words) == 2 and words[0] == "types":
        print("\n".join(Redfish(host(words[1])).reset_action()[1] or []))
    elif len(words) in (2, 3) and words[0] == "reboot":
        how = words[2] if len(words) == 3 else "GracefulRestart"
        redfish = Redfish(host(words[1]))
        target, allowed = redfish.reset_action()
        if allowed is not None and how not in allowed:
            fail("%s can't be reset by %s; it takes %s" % (words[1], how, ", ".join(allowed)))
        redfish.ask(target, {"ResetType": how})
        print("%s: %s was sent" % (words[1], how))
    else:
        print(__doc__.strip())
        sys.exit(0 if words in ([], ["help"], ["--help"]) else 2)


main(sys.argv[1:])
`;
