/** A minimal PDF of one page with lines of text. */

const lineHeight = 24

/** `lines` must be ASCII. */
export const pdf = (title: string, lines: ReadonlyArray<string>): Uint8Array<ArrayBuffer> => {
  const shown = [`/F1 20 Tf 72 720 Td (${literal(title)}) Tj`, `/F1 12 Tf 0 -${lineHeight * 2} Td`, ...lines.map((line) => `(${literal(line)}) Tj 0 -${lineHeight} Td`)]
  const content = `BT\n${shown.join("\n")}\nET`
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
  ]
  let file = "%PDF-1.4\n"
  const places = objects.map((object, index) => {
    const place = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return place
  })
  const table = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("")
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`
  return new TextEncoder().encode(file)
}

const literal = (text: string): string => text.replaceAll(/[\\()]/g, (mark) => `\\${mark}`)
