"""Talks to the receiver as Python's websockets does. Prints what it saw as JSON."""

import asyncio
import json
import sys

import websockets

given = json.loads(sys.argv[1])
saw = {}


def connect():
    return websockets.connect(given["url"], origin=given["origin"], subprotocols=["qos"], compression="deflate")


async def acked(ws, seq):
    while True:
        message = json.loads(await ws.recv())
        if message["type"] == "slow-down":  # on a busy machine
            continue
        assert message["type"] == "ack", message
        if message["seq"] == seq:
            return


async def main():
    async with connect() as ws:
        saw["protocol"] = ws.subprotocol
        saw["extensions"] = ",".join(e.name for e in ws.extensions)
        await ws.send(given["hello"])
        saw["welcome"] = json.loads(await ws.recv())["type"]
        await ws.send(given["fabric"])
        await ws.send(given["logs"][0])
        await acked(ws, 1)
        pong = await ws.ping("between")
        text = given["logs"][1]
        await ws.send([text[:9], text[9:20], text[20:]])  # fragments
        await pong
        saw["pong"] = "between"
        await acked(ws, 2)
        await ws.send(given["logs"][2].ljust(65_536))  # the largest message: its length has 64 bits
        await acked(ws, 3)
        await ws.close(1000, "done")
        saw["closed"] = ws.close_code
    async with connect() as ws:
        ws.is_client = False  # frames are not masked then
        await ws.send(given["hello"])
        try:
            await ws.recv()
        except websockets.ConnectionClosed:
            saw["unmasked"] = ws.close_code
    print(json.dumps(saw))


asyncio.run(main())
