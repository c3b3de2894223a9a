import { expect, test } from 'vitest'
import { offerFacts } from '#renderer/screens/offers/offerFacts.ts'
import { offer } from './listed.ts'

const now = 1_790_000_000
const lines = (changes: Partial<Parameters<typeof offer>[0]>) =>
  Object.fromEntries(
    offerFacts(offer({ id: 1, ...changes }), now)
      .flat()
      .map(({ name, value }) => [name, value]),
  )

test('an offer’s facts are shown in the usual units', () => {
  expect(
    lines({
      gpuCount: 2,
      compute: 1979,
      gpuBandwidth: 3350,
      nvlink: 900,
      pcie: { generation: 5, lanes: 16, bandwidth: 52 },
      cuda: 12.8,
      driver: '570.86',
      cpuName: 'EPYC 9454',
      memory: 524_288,
      diskName: 'NVMe',
      diskBandwidth: 6100,
      directPorts: 120,
      staticIp: true,
      lasts: 68 * 86_400,
      downCost: 0.002,
      upCost: 0.004,
      storageCost: 0.15,
    }),
  ).toMatchObject({
    VRAM: '80 GB each, 160 GB',
    Compute: '1,979 TFLOPS',
    'Memory bandwidth': '3,350 GB/s each',
    'Between GPUs': 'NVLink, 900 GB/s',
    'To the host': 'PCIe 5.0 × 16, 52 GB/s',
    'CUDA, driver': '12.8, 570.86',
    CPU: '32 cores EPYC 9454',
    RAM: '512 GB',
    Disk: '1,000 GB NVMe, 6,100 MB/s',
    Network: '5.0 Gb/s down, 2.0 Gb/s up',
    Ports: '120 open, static IP',
    Available: expect.stringMatching(/^68 d, until /),
    'Traffic per GB ↓ · ↑': '$0.002 · $0.004',
    'Storage per GB·month': '$0.150',
  })
})

test('unknown facts are left out', () => {
  const told = lines({ nvlink: 0 })
  expect(Object.keys(told)).toEqual(['VRAM', 'CPU', 'Disk', 'Network'])
  expect(lines({ gpuCount: 2, nvlink: 0 })['Between GPUs']).toBe('PCIe')
})
