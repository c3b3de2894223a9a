import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { pageHeaders } from '#browser/page-files.ts'
import { noNetwork, webRtcPolicy } from '#desktop/page-origin.ts'
import { patience } from '#test/berth/browser.ts'
import { openBrowser } from '#test/berth/chromium.ts'

/** Electron's two settings, as switches of Chromium. */
const shellSwitches = [
  `--webrtc-ip-handling-policy=${webRtcPolicy}`,
  `--proxy-server=${noNetwork.proxyRules}`,
  `--proxy-bypass-list=${noNetwork.proxyBypassRules}`,
]

/** A page that tries WebRTC until it gives up; `got` counts what reached this machine's ports. */
async function callOut(switches: readonly string[]) {
  const got = { packets: 0, connections: 0 }
  const udp = createSocket('udp4').on('message', () => got.packets++)
  udp.bind(0, '127.0.0.1')
  await once(udp, 'listening')
  const tcp = createServer(socket => {
    got.connections++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const browser = await openBrowser(switches)
  onTestFinished(async () => {
    await browser.close()
    udp.close()
    tcp.close()
  })
  const page = await browser.newPage()
  // As in the package, without any network.
  const answer = { contentType: 'text/html', headers: pageHeaders(), body: '<p>Berth</p>' }
  await page.route('https://berth.double.invalid/**', route => route.fulfill(answer))
  await page.goto('https://berth.double.invalid/')
  const ports = { udp: udp.address().port, tcp: (tcp.address() as AddressInfo).port }
  const givenUp = page.evaluate(async ({ udp, tcp }) => {
    const login = { username: 'what the page knows', credential: 'x' }
    const call = new RTCPeerConnection({
      iceServers: [
        { urls: `stun:127.0.0.1:${udp}` },
        { urls: `turn:127.0.0.1:${udp}`, ...login },
        { urls: `turn:127.0.0.1:${tcp}?transport=tcp`, ...login },
      ],
    })
    call.createDataChannel('out')
    const gathered = new Promise<void>(resolve => {
      call.addEventListener('icegatheringstatechange', () => {
        if (call.iceGatheringState === 'complete') resolve()
      })
    })
    await call.setLocalDescription(await call.createOffer())
    await gathered
  }, ports)
  return { got, givenUp }
}

test('the window’s settings block WebRTC', async () => {
  const { got, givenUp } = await callOut(shellSwitches)
  await givenUp
  expect(got).toEqual({ packets: 0, connections: 0 })
})

test('without those settings, as in browser mode, WebRTC gets past the content policy', async () => {
  const { got, givenUp } = await callOut([])
  givenUp.catch(() => undefined) // It still tries when its browser ends.
  await expect.poll(() => got.packets, { timeout: patience }).toBeGreaterThan(0)
})
