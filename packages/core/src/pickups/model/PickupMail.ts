/** The texts of e-mails to `confirmationEmail`. They contain no text that the shipper wrote: the address may be anybody's. */
import type { MailText } from "../../mail/model/Mail.ts"
import type { PickupAnswer } from "./PickupAnswer.ts"
import type { PickupRequest } from "./PickupRequest.ts"

const automatic = "This mail is sent because a pickup request named this address as its confirmationEmail. Please do not answer it.\n"

const named = ({ isTest }: PickupRequest, number: string | null): string => {
  const what = isTest ? "Test pickup" : "Pickup"
  return number === null ? `${what} request` : `${what} ${number}`
}

/** The pickup response of the interface. */
export const answerMail = (request: PickupRequest, { carrierName, carrierPickupNumber, pickupMessage, pickupStatus, scac }: PickupAnswer): MailText => {
  const carrier = [carrierName, scac].filter((each) => each !== null).join(", ")
  const lines = [
    `${named(request, carrierPickupNumber)}: ${pickupStatus}`,
    ...(carrierPickupNumber === null ? [] : [`carrierPickupNumber: ${carrierPickupNumber}`]),
    ...(carrier === "" ? [] : [`Carrier: ${carrier}`]),
    ...pickupMessage
  ]
  return { subject: lines[0]!, text: `${lines.join("\n")}\n\n${automatic}` }
}

export const cancellationMail = (request: PickupRequest, number: string | null): MailText => {
  const subject = `${named(request, number)}: cancelled`
  return { subject, text: `${subject}\nNo driver comes for it.\n\n${automatic}` }
}
