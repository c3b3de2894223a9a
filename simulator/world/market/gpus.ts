/** A GPU model on the market: the figures of its data sheet, a benchmark score and a usual price. */
export interface GpuModel {
  name: string
  /** Memory per GPU in MB, as nvidia-smi shows it. */
  memory: number
  /** Memory bandwidth in GB/s. */
  bandwidth: number
  /** Compute capability × 100. */
  capability: number
  /** Benchmark score of one GPU. */
  score: number
  /** Dollars per GPU and hour that hosts ask on average. */
  price: number
  /** GPUs in one machine. */
  counts: readonly [number, ...number[]]
  /** Data-centre cards are in servers with many ports and fast connections. */
  server: boolean
  /** How common it is. */
  weight: number
}

const desktop: readonly [number, ...number[]] = [1, 1, 2, 4, 8]
const servers: readonly [number, ...number[]] = [1, 2, 4, 8]
const eight: readonly [number, ...number[]] = [8]

function model(
  name: string,
  memory: number,
  bandwidth: number,
  capability: number,
  score: number,
  price: number,
  counts: readonly [number, ...number[]],
  weight: number,
): GpuModel {
  return { name, memory, bandwidth, capability, score, price, counts, server: counts !== desktop, weight }
}

/** The models on the market. Two memory sizes of one model share its name. */
export const gpuModels: readonly [GpuModel, ...GpuModel[]] = [
  model('RTX 4090', 24564, 1008, 890, 92, 0.38, desktop, 20),
  model('RTX 3090', 24576, 936, 860, 33, 0.18, desktop, 16),
  model('RTX 5090', 32607, 1792, 1200, 178, 0.58, desktop, 14),
  model('RTX 3060', 12288, 360, 860, 12, 0.06, desktop, 6),
  model('RTX 3070', 8192, 448, 860, 16, 0.08, desktop, 4),
  model('RTX 3080', 10240, 760, 860, 22, 0.11, desktop, 6),
  model('RTX 3080 Ti', 12288, 912, 860, 26, 0.13, desktop, 3),
  model('RTX 4060 Ti', 16380, 288, 890, 21, 0.12, desktop, 4),
  model('RTX 4070 Ti', 12282, 504, 890, 38, 0.16, desktop, 3),
  model('RTX 4080', 16376, 717, 890, 52, 0.24, desktop, 4),
  model('RTX 5070 Ti', 16303, 896, 1200, 74, 0.2, desktop, 4),
  model('RTX 5080', 16303, 960, 1200, 86, 0.28, desktop, 4),
  model('GTX 1080 Ti', 11264, 484, 610, 9, 0.05, desktop, 2),
  model('RTX A4000', 16376, 448, 860, 22, 0.13, servers, 4),
  model('RTX A5000', 24564, 768, 860, 35, 0.21, servers, 4),
  model('RTX A6000', 49140, 768, 860, 42, 0.45, servers, 7),
  model('RTX 6000 Ada', 49140, 960, 890, 94, 0.76, servers, 5),
  model('RTX PRO 6000 WS', 97887, 1792, 1200, 198, 1.1, servers, 3),
  model('L4', 23034, 300, 890, 29, 0.32, servers, 4),
  model('L40S', 46068, 864, 890, 96, 0.74, servers, 6),
  model('A10', 23028, 600, 860, 34, 0.27, servers, 4),
  model('A40', 46068, 696, 860, 40, 0.41, servers, 4),
  model('A100 PCIE', 40960, 1555, 800, 62, 0.58, servers, 4),
  model('A100 PCIE', 81920, 1935, 800, 70, 0.79, servers, 5),
  model('A100 SXM4', 40960, 1555, 800, 72, 0.72, servers, 4),
  model('A100 SXM4', 81920, 2039, 800, 84, 0.97, servers, 6),
  model('H100 PCIE', 81559, 2039, 900, 142, 1.85, servers, 4),
  model('H100 NVL', 95830, 3938, 900, 182, 2.05, servers, 4),
  model('H100 SXM', 81559, 3350, 900, 224, 2.2, eight, 8),
  model('H200', 143771, 4800, 900, 246, 2.75, eight, 5),
  model('B200', 183359, 8000, 1000, 448, 3.4, eight, 2),
  model('Tesla V100', 16384, 900, 700, 24, 0.17, servers, 4),
  model('Tesla V100', 32768, 900, 700, 27, 0.25, servers, 3),
  model('Tesla T4', 15360, 320, 750, 13, 0.14, servers, 4),
]
