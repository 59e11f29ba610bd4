"""A client of the API of packstore-host, for Scripts/demo-host and Scripts/torture-host.
"""
import json
import os
import time
import urllib.error
import urllib.request

RETRY_SECONDS = 0.02


class HostClient:
    """Requests with the token that `bearer` returns. While the host is down or busy they are repeated, up to `tries` times."""

    def __init__(self, port, bearer, tries=1):
        self.base, self.bearer, self.tries = f"http://127.0.0.1:{port}", bearer, tries

    def request(self, method, url, body, fields):
        """The status and the bytes of an answer."""
        for left in reversed(range(self.tries)):
            request = urllib.request.Request(url, data=body, method=method, headers=fields)
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return answer.status, answer.read()
            except urllib.error.HTTPError as error:
                if left == 0 or error.code < 500 and error.code != 429:
                    return error.code, error.read()
            except (OSError, ValueError):
                if left == 0:
                    raise
            time.sleep(RETRY_SECONDS)

    def call(self, method, target, body=None):
        """The status and the object of an answer to a JSON request."""
        fields = {"Authorization": f"Bearer {self.bearer()}", "Content-Type": "application/json"}
        status, text = self.request(method, self.base + target, None if body is None else json.dumps(body).encode(), fields)
        return status, json.loads(text) if text else None

    def create(self, kind, attributes=None, prefix="/v1", **relationships):
        """Creates an object. A relationship is a pair of the other object's kind and id."""
        data = {"type": kind, "relationships": {name: {"data": {"type": other, "id": key}}
                                                for name, (other, key) in relationships.items()}}
        return self.call("POST", f"{prefix}/{kind}", {"data": data | ({"attributes": attributes} if attributes else {})})

    def update(self, kind, key, **attributes):
        return self.call("PATCH", f"/v1/{kind}/{key}", {"data": {"type": kind, "id": key, "attributes": attributes}})

    def create_file(self, version, archive):
        """Begins the upload of an archive as a version."""
        return self.create(
            "backgroundAssetUploadFiles",
            {"assetType": "ASSET", "fileName": os.path.basename(archive), "fileSize": os.path.getsize(archive)},
            backgroundAssetVersion=("backgroundAssetVersions", version))

    def put(self, operation, archive):
        """Sends one part as its operation describes it, and returns the status."""
        with open(archive, "rb") as file:
            file.seek(operation["offset"])
            body = file.read(operation["length"])
        fields = {field["name"]: field["value"] for field in operation["requestHeaders"]}
        return self.request(operation["method"], operation["url"], body, fields)[0]
