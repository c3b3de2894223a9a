import { type Dot, type Frame, labelsOf, margin, pointOf, type Region } from './scatter.ts'

/** The chart's colours, as resolved by the browser. */
export interface Colours {
  background: string
  line: string
  text: string
  faint: string
  high: string
  middle: string
  low: string
  /** Whether the system's colours are forced: then the reliability is a shape, filled, hollow or a cross. */
  forced: boolean
}

const font = '11px "Inter Variable", system-ui, sans-serif'
const dollars = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** A canvas's context in CSS pixels, at the screen's resolution. */
function sharp(canvas: HTMLCanvasElement | OffscreenCanvas, { width, height }: Frame, ratio: number) {
  canvas.width = Math.round(width * ratio)
  canvas.height = Math.round(height * ratio)
  const context = canvas.getContext('2d') as
    | CanvasRenderingContext2D
    | OffscreenCanvasRenderingContext2D
    | null
  context?.scale(ratio, ratio)
  return context
}

/** Draws all dots once, as a picture to copy inside and outside of a region. */
export function drawDots(
  dots: readonly Dot[],
  frame: Frame,
  colours: Colours,
  ratio: number,
): OffscreenCanvas {
  const canvas = new OffscreenCanvas(1, 1)
  const context = sharp(canvas, frame, ratio)
  if (!context) return canvas
  for (const dot of dots) {
    const { x, y } = pointOf(dot, frame)
    if (x > frame.width || y < 0) continue
    context.beginPath()
    context.arc(x, y, dot.radius, 0, 2 * Math.PI)
    const hollow = dot.reliability === 'low' || (colours.forced && dot.reliability === 'middle')
    context.fillStyle = hollow ? colours.background : colours[dot.reliability]
    context.strokeStyle = hollow ? colours[dot.reliability] : colours.background
    context.lineWidth = hollow && !colours.forced ? 1.5 : 1
    if (colours.forced && dot.reliability === 'low') {
      const half = dot.radius * 0.8
      line(context, x - half, y - half, x + half, y + half)
      line(context, x - half, y + half, x + half, y - half)
      continue
    }
    context.fill()
    context.stroke()
  }
  return canvas
}

/** Draws axes, dots (faint outside of the region), the region's edge and GPU names. */
export function drawChart(
  canvas: HTMLCanvasElement,
  dots: readonly Dot[],
  frame: Frame,
  colours: Colours,
  {
    picture,
    region,
    ratio,
  }: {
    picture: OffscreenCanvas
    region: Region | undefined
    ratio: number
  },
): void {
  const context = sharp(canvas, frame, ratio)
  if (!context) return
  const { width, height } = frame
  const bottom = height - margin.bottom
  context.font = font
  context.fillStyle = colours.faint
  context.strokeStyle = colours.line
  context.lineWidth = 1
  context.textBaseline = 'middle'
  context.textAlign = 'right'
  for (const { at, value } of frame.scores.marks) {
    const y = Math.round(bottom - at * (bottom - margin.top)) + 0.5
    line(context, margin.left, y, width - margin.right, y)
    context.fillText(String(value), margin.left - 6, y)
  }
  context.textAlign = 'center'
  for (const { at, value } of frame.prices.marks) {
    const x = margin.left + at * (width - margin.left - margin.right)
    line(context, x, bottom, x, bottom + 4)
    context.fillText(`$${dollars.format(value / 1_000_000)}`, x, bottom + 13)
  }

  const whole = () => context.drawImage(picture, 0, 0, width, height)
  if (region) {
    const [from, to] = [
      pointOf({ price: region.priceFrom, score: region.scoreTo }, frame),
      pointOf({ price: region.priceTo, score: region.scoreFrom }, frame),
    ]
    const box = [from.x, from.y, to.x - from.x, to.y - from.y] as const
    context.globalAlpha = 0.35
    whole()
    context.globalAlpha = 0.07
    context.fillStyle = colours.high
    context.fillRect(...box)
    context.globalAlpha = 1
    context.save()
    context.beginPath()
    context.rect(...box)
    context.clip()
    whole()
    context.restore()
    context.strokeStyle = colours.high
    context.beginPath()
    context.roundRect(...box, 3)
    context.stroke()
  } else whole()

  context.font = `550 ${font}`
  context.lineJoin = 'round'
  for (const { text, x, y } of labelsOf(dots, frame)) {
    context.strokeStyle = colours.background
    context.lineWidth = 4
    context.strokeText(text, x, y)
    context.fillStyle = colours.text
    context.fillText(text, x, y)
  }
}

function line(
  context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D,
  x: number,
  y: number,
  toX: number,
  toY: number,
): void {
  context.beginPath()
  context.moveTo(x, y)
  context.lineTo(toX, toY)
  context.stroke()
}
