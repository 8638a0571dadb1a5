# SPDX-License-Identifier: BSD-3-Clause
"""A program of OpenPMIx's Python binding that was not launched: spawns, publishes, looks up."""
import pmix

client = pmix.PMIxClient()


def expect(rc, wanted=pmix.PMIX_SUCCESS):
    assert rc == wanted, client.error_string(rc)


rc, me = client.init([])
expect(rc, pmix.PMIX_ERR_UNREACH)
expect(client.publish([{"key": "py.key", "value": "text", "val_type": pmix.PMIX_STRING}]))
rc, found = client.lookup([{"key": "py.key"}], [])
expect(rc)
assert found[0]["value"] == "text", found
rc, job = client.spawn([], [{"cmd": "/bin/echo", "argv": ["echo", "CHILD"], "maxprocs": 1}])
expect(rc)
expect(client.unpublish(["py.key"], []))
expect(client.finalize([]))
print("OK")
