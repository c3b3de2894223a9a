import jsQR from 'jsqr'
import type { Locator, Page } from 'playwright-core'

/** The text of a QR code on the page, read from a screenshot as a phone would. */
export async function readQr(code: Locator): Promise<string> {
  const picture = (await code.screenshot({ scale: 'css' })).toString('base64')
  const reader = await code.page().context().newPage()
  try {
    const { width, height, pixels } = await pixelsOf(reader, picture)
    // The declarations of this CommonJS package hide its function below `default`.
    const read = ('default' in jsQR ? jsQR.default : jsQR) as typeof import('jsqr').default
    const found = read(Uint8ClampedArray.from(pixels), width, height)
    if (!found) throw new Error('no QR code is seen there')
    return found.data
  } finally {
    await reader.close()
  }
}

function pixelsOf(page: Page, picture: string) {
  return page.evaluate(async data => {
    const image = new Image()
    image.src = `data:image/png;base64,${data}`
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = image.width
    canvas.height = image.height
    const context = canvas.getContext('2d')
    if (!context) throw new Error('no canvas')
    context.drawImage(image, 0, 0)
    const { width, height } = image
    return { width, height, pixels: [...context.getImageData(0, 0, width, height).data] }
  }, picture)
}
