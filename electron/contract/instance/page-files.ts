/**
 * The protocol of an upload's stream, by which the main process reads files that the page holds. It requests a piece
 * in 20 bytes: number of the request, index of the file (4 bytes each), offset (8, a float), length (4). The page
 * answers with the request's number and the length (4 bytes each), then the bytes; the length `unreadable` means that
 * the file cannot be read any more. All big-endian.
 */
export const requestLength = 20
export const answerHead = 8
export const unreadable = 0xffff_ffff

export interface PieceRequest {
  request: number
  file: number
  offset: number
  length: number
}

export function encodeRequest({ request, file, offset, length }: PieceRequest): Uint8Array {
  const bytes = new Uint8Array(requestLength)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, request)
  view.setUint32(4, file)
  view.setFloat64(8, offset)
  view.setUint32(16, length)
  return bytes
}

export function decodeRequest(bytes: Uint8Array): PieceRequest {
  const view = new DataView(bytes.buffer, bytes.byteOffset, requestLength)
  return {
    request: view.getUint32(0),
    file: view.getUint32(4),
    offset: view.getFloat64(8),
    length: view.getUint32(16),
  }
}

export function encodeAnswerHead(request: number, length: number): Uint8Array {
  const bytes = new Uint8Array(answerHead)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, request)
  view.setUint32(4, length)
  return bytes
}
