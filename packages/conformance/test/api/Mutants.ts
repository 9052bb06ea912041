/** Broken implementations: each breaks one thing, and the rule that is named must find it. */
import { type Call, jsonReply } from "./MutatingProxy.ts"
import { accepting, answering, answeringAs, changing, changingBody, confusing, delivering, isFor, type Json, type Mutant, turning, withHeaders, without, withoutParameter } from "./Mutations.ts"
import { accessMutants } from "./AccessMutants.ts"
import { fileMutants } from "./FileMutants.ts"
import { tokenMutants } from "./TokenMutants.ts"
import { windowMutants } from "./WindowMutants.ts"

const lookups = /^\/in-transit\/v1\/shipment\/(pro|bol|po)\/[^/]+(\/[^/]+)?\/(verified|public)$/u
const verified = /\/shipment\/.*\/verified$/u
const open = /\/shipment\/.*\/public$/u
const range = /^\/in-transit\/v1\/shipment\/po\/[^/]+\/[^/]+\/[^/]+\/verified$/u
const follow = /\/notifications\/subscribe$/u
const unfollow = /\/notifications\/unsubscribe\//u

const shipmentStatus: ReadonlyArray<Mutant> = [
  { rule: "a-pro-verified", name: "a verified answer lacks a required member", seen: "UniqueID", ...changing("GET", verified, (json) => without(json, "UniqueID")) },
  { rule: "a-pro-verified", name: "a verified answer leaves a null member out", seen: "UpdatedPro", ...changing("GET", verified, (json) => without(json, "UpdatedPro")) },
  { rule: "a-pro-verified", name: "an unknown milestone", seen: "ShipmentMilestoneStatus", ...changing("GET", verified, (json) => ({ ...json, ShipmentMilestoneStatus: "On its way" })) },
  { rule: "a-pro-verified", name: "another shipment is answered", seen: "ProNumber is", ...changing("GET", verified, (json) => ({ ...json, ProNumber: "1234567" })) },
  { rule: "a-bol-verified", name: "HTML instead of JSON", seen: "text/html", ...answeringAs(lookups, "text/html") },
  { rule: "a-po-verified", name: "202 for the caller's own shipment", seen: "answered 202", ...turning("GET", verified, 200, 202) },
  { rule: "a-pro-foreign", name: "the whole shipment for somebody else's", seen: "beside the four", ...changing("GET", verified, (json) => ({ ...json, BillToAccountNumber: "B-1" })) },
  { rule: "a-bol-foreign", name: "200 for somebody else's shipment", seen: "answered 200", ...turning("GET", verified, 202, 200) },
  { rule: "a-po-foreign", name: "404 for somebody else's shipment", seen: "answered 404", ...turning("GET", verified, 202, 404) },
  { rule: "a-foreign-other", name: "another customer sees everything", seen: "answered 200", ...confusing("other", "customer", verified) },
  { rule: "a-pro-unknown", name: "200 for an unknown PRO", seen: "answered 200", ...turning("GET", verified, 404, 200) },
  { rule: "a-bol-postal-code", name: "the postal code is ignored", seen: "answered 200", call: (call, { shipment }) => ({ ...call, path: call.path.replace("/99950/", `/${shipment!.originPostalCode}/`) }) },
  { rule: "a-pro-public", name: "the public form has a reference", seen: "ReferenceNumbers", ...changing("GET", open, (json) => ({ ...json, ReferenceNumbers: { poNumber: "PO-1" } })) },
  { rule: "a-bol-public", name: "days in transit as text", seen: "EstimatedStandardDay", ...changing("GET", open, (json) => ({ ...json, EstimatedStandardDay: "3" })) },
  { rule: "a-po-public-unknown", name: "500 for an unknown PO", seen: "answered 500", ...turning("GET", open, 404, 500) },
  { rule: "a-delay-reason", name: "late without a reason", seen: "DelayReasonCode", ...changing("GET", verified, (json) => ({ ...json, Late: true })) },
  { rule: "a-partner-carrier", name: "Interline without the partner", seen: "partner carrier is missing", ...changing("GET", verified, (json) => ({ ...json, ShipmentMilestoneStatus: "Interline" })) },
  { rule: "a-cross-border", name: "cross-border without a status", seen: "CrossBorderStatus", ...changing("GET", verified, (json) => ({ ...json, CrossBorder: true })) },
  { rule: "a-unique-id", name: "a UniqueID of another form", seen: "UniqueID is", ...changing("GET", verified, (json) => ({ ...json, UniqueID: "4711" })) },
  { rule: "a-public-agrees", name: "the public form has another estimate", seen: "UpdatedETA is", ...changing("GET", open, (json) => ({ ...json, UpdatedETA: "2030-01-01" })) },
  { rule: "a-range", name: "a shipment of the range is missing", seen: "is not in the answer", ...changing("GET", range, () => []) },
  { rule: "a-range-bounds", name: "the range is ignored", seen: "is in the answer", call: (call) => ({ ...call, path: call.path.replace(/(\/po\/[^/]+)\/[^/]+\/[^/]+\/verified$/u, "$1/1990-01-01/2090-01-01/verified") }) },
  { rule: "a-range-bounds", name: "startDate is ignored", seen: "before the range", call: (call) => ({ ...call, path: call.path.replace(/(\/po\/[^/]+)\/[^/]+(\/[^/]+\/verified)$/u, (path, account, end) => range.test(call.path) ? `${account}/1990-01-01${end}` : path) }) },
  { rule: "a-range", name: "a shipment of the range twice", seen: "The number of different shipments", ...changing("GET", range, (json) => [...json, ...json]) },
  { rule: "a-range-empty", name: "200 [] for an empty range", seen: "answered 200", answer: (reply) => reply.status === 204 ? jsonReply(200, []) : reply },
  { rule: "a-range-unknown", name: "204 for an unknown account", seen: "answered 204", ...turning("GET", range, 404, 204) },
  { rule: "a-range-foreign", name: "another customer's account is shown", seen: "answered 200", ...confusing("customer", "carrier", range) },
  { rule: "a-range-unauthenticated", name: "anybody may list an account", seen: "answered 200", ...confusing("nobody", "customer", range) },
  { rule: "a-verified-unauthenticated", name: "anybody sees the verified form", seen: "answered 200", ...confusing("nobody", "customer", verified) },
  { rule: "a-subscribe", name: "no transactionId", seen: "transactionId", ...changing("POST", follow, (json) => without(json, "transactionId")) },
  { rule: "a-subscribe-unauthenticated", name: "anybody may subscribe", seen: "answered 200", ...confusing("nobody", "customer", follow) },
  { rule: "a-subscribe-invalid", name: "a subscription without an address", seen: "no webhookUrl answered 200", ...accepting("POST", follow) },
  { rule: "a-unsubscribe", name: "unsubscribing fails", seen: "answered 404", ...turning("DELETE", unfollow, 200, 404) },
  { rule: "a-unsubscribe-unknown", name: "200 for an unknown transaction", seen: "answered 200", ...turning("DELETE", unfollow, 404, 200) },
  { rule: "a-unsubscribe-foreign", name: "another client ends a subscription", seen: "answered 200", ...confusing("other", "customer", unfollow) },
  { rule: "a-notified", name: "the second movement is lost", seen: "1 notifications came", delivery: (delivery) => delivery.body.includes("Departed") ? "swallow" : delivery },
  { rule: "a-notified-numbers", name: "only PRO numbers are followed", seen: "its BOL number", ...changingBody("POST", follow, (json) => ({ ...json, referenceNumbers: json.referenceNumbers.map((number: string) => number.replace(/^CBOL.*/u, "0")) })) },
  { rule: "a-notified-numbers", name: "only the first of several numbers is followed", seen: "two PRO numbers", ...changingBody("POST", follow, (json) => ({ ...json, referenceNumbers: json.referenceNumbers.slice(0, 1) })) },
  { rule: "a-notification-shape", name: "a notification without its message", seen: "notificationMessage", ...delivering((json) => without(json, "notificationMessage")) },
  { rule: "a-notification-shape", name: "a notification about another shipment", seen: "was not subscribed to", ...delivering((json) => ({ ...json, proNumber: "1234567" })) },
  { rule: "a-notification-movement", name: "movements in the wrong order", seen: "Departed was notified before Arrived", ...delivering((json) => ({ ...json, terminalStatus: json.terminalStatus === "Arrived" ? "Departed" : "Arrived" })) },
  { rule: "a-notification-signed", name: "unsigned notifications", seen: "signature", ...withHeaders((headers) => without(headers, "webhook-signature")) },
  { rule: "a-notification-retried", name: "a refused notification is forgotten", seen: "did not come again", receiverStatus: () => 200 },
  { rule: "a-unsubscribed-silent", name: "unsubscribing has no effect", seen: "it was unsubscribed", ...answering("DELETE", unfollow, jsonReply(200, { message: "Done", transactionId: "1" })) },
  { rule: "a-notification-foreign", name: "another customer is notified", seen: "no access", ...confusing("other", "customer", follow) },
  { rule: "a-account", name: "another account", seen: "BillToAccountNumber is", ...changing("GET", verified, (json) => ({ ...json, BillToAccountNumber: "OTHER" })) },
  { rule: "a-bol-unknown", name: "202 for an unknown BOL", seen: "answered 202", ...turning("GET", verified, 404, 202) },
  { rule: "a-po-unknown", name: "204 for an unknown PO", seen: "answered 204", ...turning("GET", verified, 404, 204) },
  { rule: "a-pro-public-unknown", name: "204 for an unknown PRO in the public form", seen: "answered 204", ...turning("GET", open, 404, 204) },
  { rule: "a-bol-public-unknown", name: "200 for an unknown BOL in the public form", seen: "answered 200", ...turning("GET", open, 404, 200) },
  { rule: "a-po-public", name: "no estimate", seen: "UpdatedETA", ...changing("GET", open, (json) => without(json, "UpdatedETA")) },
  { rule: "a-po-postal-code", name: "the postal code of a PO is ignored", seen: "answered 200", call: (call, { shipment }) => ({ ...call, path: call.path.replace("/99950/", `/${shipment!.destinationPostalCode}/`) }) },
  { rule: "a-range-invalid", name: "500 for dates that are none", seen: "answered 500", ...turning("GET", range, 400, 500) },
  { rule: "a-unsubscribe-unauthenticated", name: "anybody may unsubscribe", seen: "answered 200", ...confusing("nobody", "customer", unfollow) },
  { rule: "a-notification-conditions", name: "a count of stops while in transit", seen: "countsToDelivery is 3", ...delivering((json) => ({ ...json, countsToDelivery: 3 })) }
]

const invoices = /^\/invoicing\/invoices$/u
const invoice = /^\/invoicing\/invoices\/./u
const documents = /^\/invoicing\/documents$/u
const document = /^\/invoicing\/documents\/./u

const invoicing: ReadonlyArray<Mutant> = [
  { rule: "b-create", name: "creating answers no message", seen: "message", ...changing("POST", invoices, () => ({ ok: true })) },
  { rule: "b-get", name: "an attribute is lost", seen: "attributes is", ...changing("GET", invoice, (json) => ({ ...json, attributes: [] })) },
  { rule: "b-get-charges", name: "amounts as numbers", seen: "invoiceCharges is", ...changing("GET", invoice, (json) => ({ ...json, invoiceCharges: json.invoiceCharges.map((charge: Json) => ({ ...charge, cost: { ...charge.cost, value: String(Number(charge.cost.value)) } })) })) },
  { rule: "b-get-charges", name: "descriptions of charges are lost", seen: "invoiceCharges is", ...changing("GET", invoice, (json) => ({ ...json, invoiceCharges: json.invoiceCharges.map((charge: Json) => without(charge, "chargeDescription")) })) },
  { rule: "b-get-members", name: "the discount of a charge is lost", seen: "chargeDiscount is missing", ...changing("GET", invoice, (json) => ({ ...json, invoiceCharges: json.invoiceCharges.map((charge: Json) => without(charge, "chargeDiscount")) })) },
  { rule: "b-get-unknown", name: "200 for an unknown invoice", seen: "answered 200", ...turning("GET", invoice, 404, 200) },
  { rule: "b-create-required", name: "an invoice without an id is accepted", seen: "no uniqueID answered 200", ...accepting("POST", invoices) },
  { rule: "b-create-charge-type", name: "an unknown charge type is accepted", seen: "NO_SUCH_CHARGE answered 200", ...accepting("POST", invoices) },
  { rule: "b-create-dates", name: "an invoice date that is none is accepted", seen: "the invoiceDate soon answered 200", ...accepting("POST", invoices) },
  { rule: "b-create-duplicate", name: "another invoice of the same id is accepted", seen: "answered 200", ...accepting("POST", invoices) },
  { rule: "b-list", name: "a page object instead of an array", seen: "is not as the interface", ...changing("GET", invoices, (json) => ({ data: json })) },
  { rule: "b-list-shipment", name: "the filter shipmentID is ignored", seen: "was asked for", ...withoutParameter("GET", invoices, "shipmentID") },
  { rule: "b-list-number", name: "the filter invoiceNumber is ignored", seen: "was asked for", ...withoutParameter("GET", invoices, "invoiceNumber") },
  { rule: "b-list-combined", name: "the filter DOT is ignored", seen: "What is listed with DOT", ...withoutParameter("GET", invoices, "DOT") },
  { rule: "b-replace", name: "a replacement has no effect", seen: "invoiceHeader is", ...answering("PUT", invoice, jsonReply(200, { message: "Replaced" })) },
  { rule: "b-replace", name: "a replacement keeps the old charges in front", seen: "invoiceCharges", ...changingBody("PUT", invoice, (json) => ({ ...json, invoiceCharges: json.invoiceCharges?.toReversed() })) },
  { rule: "b-replace-whole", name: "a replacement is a merge", seen: "attributes and charges", ...changingBody("PUT", invoice, (json) => ({ ...json, attributes: [{ id: 7, type: "requestNumber", value: "R-7" }] })) },
  { rule: "b-replace-unknown", name: "replacing creates", seen: "answered 200", ...turning("PUT", invoice, 404, 200) },
  { rule: "b-delete", name: "a deleted invoice is still there", seen: "answered 200", ...answering("DELETE", invoice, jsonReply(200, { message: "Deleted" })) },
  { rule: "b-delete", name: "a delete removes other invoices of the shipment", seen: "answered 404", ...(() => {
    let isDeleted = false
    return {
      call: (call: Call) => {
        isDeleted ||= call.method === "DELETE"
        return isDeleted && isFor(call, "GET", invoice) ? jsonReply(404, ["300"]) : call
      }
    }
  })() },
  { rule: "b-delete-message", name: "deleting answers 204", seen: "answered 204", answer: (reply, call) => call.method === "DELETE" ? { ...reply, status: 204, body: "" } : reply },
  { rule: "b-error-body", name: "errors as an object", seen: "error body", answer: (reply) => reply.status >= 400 ? jsonReply(reply.status, { error: "bad" }) : reply },
  { rule: "b-unauthenticated", name: "anybody may list invoices", seen: "answered 200", ...confusing("nobody", "carrier", invoices) },
  { rule: "b-customer-writes", name: "a customer may write invoices", seen: "answered 200", ...confusing("customer", "carrier", /\/invoices/u) },
  { rule: "b-customer-reads", name: "the customer does not see its invoice", seen: "answered 404", call: (call, { clients }) => call.headers["x-api-key"] === (clients!.customer as Json).apiKey ? jsonReply(404, ["300"]) : call },
  { rule: "b-foreign", name: "another customer sees the invoice", seen: "answered 200", ...confusing("other", "carrier", /\/invoices/u) },
  { rule: "b-documents", name: "files as strings", seen: "is not as the interface", ...changing("GET", document, (json) => ({ ...json, documents: json.documents.map((each: Json) => ({ ...each, files: each.files.map((file: Json) => file.content) })) })) },
  { rule: "b-documents", name: "another uniqueID", seen: "uniqueID is", ...changing("GET", document, (json) => ({ ...json, uniqueID: "OTHER" })) },
  { rule: "b-documents-optional", name: "the comments of documents are lost", seen: "comments is missing", ...changing("GET", document, (json) => without(json, "comments")) },
  { rule: "b-documents-content", name: "a file is changed", seen: "The content of", ...changing("GET", document, (json) => ({ ...json, documents: json.documents.map((each: Json) => ({ ...each, files: each.files.map((file: Json) => ({ ...file, content: "JVBERi0=" })) })) })) },
  { rule: "b-upload-required", name: "an upload without a date is accepted", seen: "answered 200", ...accepting("POST", documents) },
  { rule: "b-upload-type", name: "an unknown document type is accepted", seen: "XYZ answered 200", ...accepting("POST", documents) },
  { rule: "b-document-list-type", name: "the filter documentType is ignored", seen: "The document types", ...withoutParameter("GET", documents, "documentType") },
  { rule: "b-document-delete-file", name: "fileIds is ignored", seen: "answered 404", ...withoutParameter("DELETE", document, "fileIds") },
  { rule: "b-document-foreign", name: "another customer sees the documents", seen: "answered 200", ...confusing("other", "carrier", /\/documents/u) },
  { rule: "b-create-types", name: "an id that is a number is accepted", seen: "uniqueID 7 answered 200", ...accepting("POST", invoices) },
  { rule: "b-create-malformed", name: "500 for a body that is not JSON", seen: "answered 500", ...turning("POST", invoices, 400, 500) },
  { rule: "b-list-dot", name: "the filter DOT finds nothing", seen: "is not listed", ...answering("GET", invoices, jsonReply(200, []), ({ query }) => query.has("DOT")) },
  { rule: "b-list-mc", name: "the MC of an invoice is another", seen: "was asked for", ...changing("GET", invoices, (json) => json.map((each: Json) => ({ ...each, MC: "111111" }))) },
  { rule: "b-replace-comments", name: "comments are refused", seen: "answered 400", ...answering("PUT", invoice, jsonReply(400, ["300"]), ({ query }) => query.has("comments")) },
  { rule: "b-replace-id", name: "another id is accepted", seen: "answered 200", ...turning("PUT", invoice, 400, 200) },
  { rule: "b-replace-invalid", name: "an incomplete replacement is accepted", seen: "no invoiceHeader answered 200", ...accepting("PUT", invoice) },
  { rule: "b-delete-unknown", name: "200 when an unknown invoice is deleted", seen: "answered 200", ...turning("DELETE", invoice, 404, 200) },
  { rule: "b-upload", name: "an upload answers no message", seen: "message", ...changing("POST", documents, () => ({})) },
  { rule: "b-upload-status", name: "200 for an upload", seen: "answered 200", ...turning("POST", documents, 201, 200) },
  { rule: "b-upload-files", name: "a number as files is accepted", seen: "files 7 answered 200", ...accepting("POST", documents) },
  { rule: "b-documents-unknown", name: "200 for unknown documents", seen: "answered 200", ...turning("GET", document, 404, 200) },
  { rule: "b-document-list", name: "the list is empty", seen: "What is listed", ...changing("GET", documents, () => []) },
  { rule: "b-document-list-combined", name: "the filter MC is ignored", seen: "with another MC", ...withoutParameter("GET", documents, "MC") },
  { rule: "b-document-list-types", name: "only the first of several types counts", seen: "The document types", call: (call) => {
    const [first] = call.query.getAll("documentType")
    if (first !== undefined) call.query.set("documentType", first)
    return call
  } },
  { rule: "b-document-list-type-value", name: "an unknown document type is accepted as a filter", seen: "XYZ answered 200", ...accepting("GET", documents, []) },
  { rule: "b-document-delete", name: "deleting has no effect", seen: "answered 200", ...answering("DELETE", document, jsonReply(200, { message: "Deleted" })) },
  { rule: "b-document-delete-files", name: "only the first of several fileIds counts", seen: "The ids that are left", call: (call) => {
    const [first] = call.query.getAll("fileIds")
    if (first !== undefined) call.query.set("fileIds", first)
    return call
  } },
  { rule: "b-document-delete-unknown-file", name: "unknown fileIds delete all files", seen: "answered 404", ...withoutParameter("DELETE", document, "fileIds") },
  { rule: "b-document-delete-unknown", name: "200 when unknown documents are deleted", seen: "answered 200", ...turning("DELETE", document, 404, 200) },
  { rule: "b-document-customer-writes", name: "a customer may upload", seen: "answered 201", ...confusing("customer", "carrier", documents) },
  { rule: "b-create-variants", name: "item charges are lost", seen: "The types of the charges", ...changing("GET", invoice, (json) => ({ ...json, invoiceCharges: json.invoiceCharges.filter((charge: Json) => charge.chargeType !== "ITEM_CHARGE") })) },
  { rule: "b-upload-types", name: "a document type of the list is refused", seen: "answered 400", ...answering("POST", documents, jsonReply(400, ["300"]), ({ body }) => body.includes("W&I")) }
]

const pickups = /^\/pickup\/v1\/pickups\/?$/u
const pickup = /^\/pickup\/v1\/pickups\/./u

const pickupMutants: ReadonlyArray<Mutant> = [
  { rule: "c-create", name: "one object instead of an array", seen: "is not as the interface", ...changing("POST", pickups, ([json]) => json) },
  { rule: "c-create-number", name: "a refused request with a number", seen: "pickupStatus is Reject", ...changing("POST", pickups, ([json]) => [{ ...json, pickupStatus: "Reject" }]) },
  { rule: "c-create-references", name: "the references are lost", seen: "shipperRef", ...changing("POST", pickups, ([json]) => [{ ...json, shipperRef: [] }]) },
  { rule: "c-create-required", name: "an incomplete request is accepted", seen: "no isTest answered 200", ...accepting("POST", pickups, [{}]) },
  { rule: "c-create-origin", name: "a request without an origin is accepted", seen: "an empty pickupAddress answered 200", ...accepting("POST", pickups, [{}]) },
  { rule: "c-create-foreign-account", name: "another customer's account is accepted", seen: "answered 200", ...confusing("customer", "carrier", pickups) },
  { rule: "c-update", name: "an update has no effect", seen: "The weight after the update", call: (call) => call.method === "PUT" ? jsonReply(200, [{ shipperRef: [], carrierPickupNumber: call.path.split("/").at(-1), pickupStatus: "Accept", trailerNumber: null, carrierName: null, routing: null, scac: null, pickupMessage: [] }]) : call },
  { rule: "c-update", name: "an update gives another number", seen: "carrierPickupNumber is", ...changing("PUT", pickup, ([json]) => [{ ...json, carrierPickupNumber: "4711" }]) },
  { rule: "c-update-unknown", name: "an unknown pickup is updated", seen: "answered 200", ...turning("PUT", pickup, 404, 200, [{}]) },
  { rule: "c-update-function", name: "an update with NewPickup is accepted", seen: "NewPickup answered 200", ...accepting("PUT", pickup, [{}]) },
  { rule: "c-lookup", name: "no information code", seen: "informationCode", ...changing("GET", pickups, (json) => without(json, "informationCode")) },
  { rule: "c-lookup-pro", name: "another pickup is shown", seen: "pickupConfirmationId is", ...changing("GET", pickups, (json) => ({ ...json, pickupConfirmationId: "4711" })) },
  { rule: "c-lookup-integers", name: "the confirmation id as text", seen: "pickupConfirmationId is \"", ...changing("GET", pickups, (json) => ({ ...json, pickupConfirmationId: String(json.pickupConfirmationId) })) },
  { rule: "c-lookup-integers", name: "a PRO as text", seen: "proNumber is \"", ...changing("GET", pickups, (json) => ({ ...json, shipmentArray: json.shipmentArray.map((each: Json) => ({ ...each, proNumber: String(each.proNumber) })) })) },
  { rule: "c-lookup-shipments", name: "no shipments", seen: "proNumber", ...changing("GET", pickups, (json) => ({ ...json, shipmentArray: [] })) },
  { rule: "c-lookup-every-shipment", name: "a shipment twice", seen: "proNumber of the shipments", ...changing("GET", pickups, (json) => ({ ...json, shipmentArray: [...json.shipmentArray, ...json.shipmentArray] })) },
  { rule: "c-lookup-every-shipment", name: "the second shipment is lost", seen: "proNumber of the shipments", ...changingBody("POST", pickups, (json) => ({ ...json, shipmentDetails: json.shipmentDetails.slice(0, 1) })) },
  { rule: "c-lookup-every-shipment", name: "references are lost", seen: "without its reference", ...changing("GET", pickups, (json) => ({ ...json, shipmentArray: json.shipmentArray.map((each: Json) => ({ ...each, referenceNumbers: null })) })) },
  { rule: "c-lookup-eta", name: "stopEta with a zone", seen: "without a zone", ...changing("GET", pickups, (json) => ({ ...json, stopEta: `${json.stopEta}Z` })) },
  { rule: "c-lookup-eta", name: "stopEta without its zone", seen: "stopEtaTimeZone is missing", ...changing("GET", pickups, (json) => ({ ...json, stopEtaTimeZone: null })) },
  { rule: "c-lookup-required", name: "a lookup without isTest is accepted", seen: "answered 200", ...accepting("GET", pickups) },
  { rule: "c-lookup-type", name: "an unknown lookupType is accepted", seen: "BOL answered 200", ...accepting("GET", pickups) },
  { rule: "c-lookup-real", name: "isTest is ignored", seen: "answered 200", call: (call) => {
    if (call.query.has("isTest")) call.query.set("isTest", "true")
    return call
  } },
  { rule: "c-cancel", name: "a cancel has no effect", seen: "The status of the cancelled pickup is", ...answering("DELETE", pickup, jsonReply(200, undefined)) },
  { rule: "c-unauthenticated", name: "anybody may order", seen: "answered 200", ...confusing("nobody", "customer", pickups) },
  { rule: "c-foreign", name: "another customer sees the pickup", seen: "answered 200", ...confusing("other", "customer", pickups) },
  { rule: "c-create-status", name: "201 for a request", seen: "answered 201", ...turning("POST", pickups, 200, 201) },
  { rule: "c-create-function", name: "any requestFunction is accepted", seen: "answered 200", ...accepting("POST", pickups, [{}]) },
  { rule: "c-create-test-flag", name: "any isTest is accepted", seen: "answered 200", ...accepting("POST", pickups, [{}]) },
  { rule: "c-create-types", name: "a weight as text is accepted", seen: "answered 200", ...accepting("POST", pickups, [{}]) },
  { rule: "c-create-times", name: "a time that is none is accepted", seen: "answered 200", ...accepting("POST", pickups, [{}]) },
  { rule: "c-create-malformed", name: "500 for a body that is not JSON", seen: "answered 500", ...turning("POST", pickups, 400, 500) },
  { rule: "c-update-invalid", name: "an incomplete update is accepted", seen: "no pickupAddress answered 200", ...accepting("PUT", pickup, [{}]) },
  { rule: "c-lookup-test-flag", name: "any isTest of a lookup is accepted", seen: "answered 200", ...accepting("GET", pickups) },
  { rule: "c-lookup-unknown", name: "400 for an unknown pickup", seen: "answered 400", ...turning("GET", pickups, 404, 400) },
  { rule: "c-lookup-safe", name: "a lookup cancels", seen: "cancelled the pickup", call: (call) =>
    call.query.get("requestType") === "Cancel" ? { ...call, method: "DELETE", path: `/pickup/v1/pickups/${call.query.get("lookupValue")}`, query: new URLSearchParams() } : call },
  { rule: "c-cancel-unknown", name: "200 when an unknown pickup is cancelled", seen: "answered 200", ...turning("DELETE", pickup, 404, 200) },
  { rule: "c-error-body", name: "errors as text", seen: "error body", answer: (reply) => reply.status === 400 ? { ...reply, body: "bad" } : reply },
  { rule: "c-create-nulls", name: "null is refused", seen: "answered 400", ...answering("POST", pickups, jsonReply(400, { message: "No" }), ({ body }) => body.includes("\"shipmentDetails\":null")) },
  { rule: "c-create-nulls", name: "a ready date is required", seen: "answered 400", ...answering("POST", pickups, jsonReply(400, { message: "No" }), ({ body }) => body.includes("\"readyDate\":null")) },
  { rule: "c-create-members", name: "emergency contacts are refused", seen: "answered 400", ...answering("POST", pickups, jsonReply(400, { message: "No" }), ({ body }) => body.includes("emergName")) },
  { rule: "c-update-omitted", name: "handlingUnitType is required in an update", seen: "answered 400", ...answering("PUT", pickup, jsonReply(400, { message: "No" }), ({ body }) => !body.includes("handlingUnitType")) }
]

const events = /^\/visibility\/v1\/events$/u
const subscriptions = /^\/visibility\/v1\/subscriptions$/u
const subscription = /^\/visibility\/v1\/subscriptions\/./u

/** The first event of the page, later. */
const firstLast = (json: Json): Json => ({ ...json, data: [...json.data.slice(1), ...json.data.slice(0, 1)] })

const transitEvents: ReadonlyArray<Mutant> = [
  { rule: "d-create", name: "a new subscription is paused", seen: "endpointUrl and status", ...changing("POST", subscriptions, (json) => ({ ...json, status: "paused" })) },
  { rule: "d-create-status", name: "200 without Location", seen: "answered 200", ...turning("POST", subscriptions, 201, 200) },
  { rule: "d-create-filters", name: "filters are lost", seen: "eventTypes and shipmentIds", ...changingBody("POST", subscriptions, (json) => without(json, "filters")) },
  { rule: "d-create-delivery", name: "delivery settings are lost", seen: "The delivery settings", ...changingBody("POST", subscriptions, (json) => without(json, "delivery")) },
  { rule: "d-create-required", name: "a subscription without an address is accepted", seen: "no endpointUrl answered 200", ...accepting("POST", subscriptions) },
  { rule: "d-create-event-type", name: "an unknown event type is accepted", seen: "NO_SUCH_TYPE answered 200", ...accepting("POST", subscriptions) },
  { rule: "d-create-secret", name: "an unknown secret is accepted", seen: "hmacSecretId answered 200", ...accepting("POST", subscriptions) },
  { rule: "d-secret-hidden", name: "the secret is shown", seen: "shows the signing secret", answer: (reply, call, { webhook }) => subscription.test(call.path) && reply.status === 200 ? { ...reply, body: JSON.stringify({ ...JSON.parse(reply.body), secret: webhook!.secret }) } : reply },
  { rule: "d-get", name: "createdAt changes", seen: "createdAt is", ...changing("GET", subscription, (json) => ({ ...json, createdAt: "2020-01-01T00:00:00.000Z" })) },
  { rule: "d-list", name: "the page is ignored", seen: "page, pageSize", ...withoutParameter("GET", subscriptions, "page") },
  { rule: "d-list-order", name: "a page in reverse", seen: "is listed after", ...changing("GET", subscriptions, (json) => ({ ...json, data: json.data.toReversed() })) },
  { rule: "d-list-order", name: "subscriptions of every client are counted", seen: "totalCount", ...changing("GET", subscriptions, (json) => ({ ...json, totalCount: json.data.length + 3 })) },
  { rule: "d-list-page-headers", name: "no paging headers", seen: "no header", answer: (reply, call) => subscriptions.test(call.path) ? { ...reply, headers: { "content-type": "application/json" } } : reply },
  { rule: "d-list-default", name: "the default page is another", seen: "without parameters", ...changing("GET", subscriptions, (json) => ({ ...json, pageSize: 20 })) },
  { rule: "d-list-status", name: "the status is ignored", seen: "not in the list of inactive", ...withoutParameter("GET", subscriptions, "status") },
  { rule: "d-list-bounds", name: "any page is accepted", seen: "answered 200", ...accepting("GET", subscriptions) },
  { rule: "d-unknown-subscription", name: "204 for an unknown subscription", seen: "answered 204", ...turning("DELETE", subscription, 404, 204) },
  { rule: "d-patch", name: "a patch replaces the filters", seen: "eventTypes, shipmentIds", ...changingBody("PATCH", subscription, (json) => json.filters === undefined ? json : { ...json, filters: { shipmentIds: null, ...json.filters } }) },
  { rule: "d-patch-status", name: "a subscription cannot become inactive", seen: "status is", ...answering("PATCH", subscription, jsonReply(200, {})) },
  { rule: "d-patch-keeps-status", name: "a patch activates", seen: "status is \"active\"", ...changingBody("PATCH", subscription, (json) => ({ status: "active", ...json })) },
  { rule: "d-patch-bounds", name: "any patch is accepted", seen: "answered 200", ...accepting("PATCH", subscription) },
  { rule: "d-patch-bounds", name: "a patch to an unknown secret is accepted", seen: "waybill-check-", ...answering("PATCH", subscription, jsonReply(200, {}), ({ body }) => body.includes("hmacSecretId")) },
  { rule: "d-delete", name: "a removed subscription is still there", seen: "answered 200", ...answering("DELETE", subscription, { status: 204, headers: {}, body: "" }) },
  { rule: "d-subscriptions-unauthenticated", name: "anybody may list subscriptions", seen: "answered 200", ...confusing("nobody", "customer", subscriptions) },
  { rule: "d-subscriptions-foreign", name: "another client sees a subscription", seen: "answered 200", ...confusing("other", "customer", subscription) },
  { rule: "d-error-body", name: "errors as a message", seen: "error body", answer: (reply) => reply.status >= 400 ? jsonReply(reply.status, { message: "bad" }, "application/problem+json") : reply },
  { rule: "d-error-media-type", name: "errors as application/json", seen: "application/problem+json is expected", answer: (reply) => reply.status >= 400 ? { ...reply, headers: { ...reply.headers, "content-type": "application/json" } } : reply },
  { rule: "d-delivered", name: "the last event of a batch is lost", seen: "not delivered in time", ...delivering((json) => ({ ...json, events: json.events.slice(0, -1) })) },
  { rule: "d-batch-shape", name: "no sentAt", seen: "sentAt", ...delivering((json) => without(json, "sentAt")) },
  { rule: "d-batch-shape", name: "an empty batch", seen: "events", ...delivering((json, nth) => nth === 0 ? { ...json, events: [] } : json) },
  { rule: "d-batch-shape", name: "another content type", seen: "text/plain", ...withHeaders((headers) => ({ ...headers, "content-type": "text/plain" })) },
  { rule: "d-delivered-as-listed", name: "events of another type are delivered", seen: "type, sequence and occurredAt", ...delivering((json) => ({ ...json, events: json.events.map((event: Json) => ({ ...event, type: "OTHER" })) })) },
  { rule: "d-signed", name: "unsigned deliveries", seen: "signature", ...withHeaders((headers) => without(headers, "webhook-signature")) },
  { rule: "d-signed", name: "a body that was changed after it was signed", seen: "signature", ...delivering((json) => ({ ...json, more: true })) },
  { rule: "d-batch-size", name: "batchMaxSize is ignored", seen: "where batchMaxSize is 1", ...changingBody("POST", subscriptions, (json) => ({ ...json, delivery: without(json.delivery, "batchMaxSize") })) },
  { rule: "d-filter-types", name: "filters are ignored", seen: "the filter is IN_TRANSIT", ...changingBody("POST", subscriptions, (json) => without(json, "filters")) },
  { rule: "d-filter-shipments", name: "shipmentIds is ignored", seen: "the filter is CHECK-", ...changingBody("POST", subscriptions, (json) => without(json, "filters")) },
  { rule: "d-retried", name: "a refused delivery is forgotten", seen: "did not come again", receiverStatus: (status) => status === 500 ? 200 : status },
  { rule: "d-retried-drop", name: "a cut-off delivery is forgotten", seen: "did not come again", receiverStatus: (status) => status === 0 ? 200 : status },
  { rule: "d-delivery-id", name: "another deliveryId for each attempt", seen: "The deliveryId of a repeated delivery", ...delivering((json, nth) => ({ ...json, deliveryId: `attempt-${nth}` })) },
  { rule: "d-in-order", name: "events in reverse", seen: "was delivered after", ...delivering((json) => ({ ...json, events: json.events.map((event: Json) => ({ ...event, sequence: 1_000 - event.sequence })) })) },
  { rule: "d-in-order", name: "a batch in reverse", seen: "was delivered after", ...delivering((json) => ({ ...json, events: json.events.toReversed() })) },
  { rule: "d-batch-members", name: "an event is delivered without its origin", seen: "origin", ...delivering((json) => ({ ...json, events: json.events.map((event: Json) => ({ ...event, shipment: without(event.shipment, "origin") })) })) },
  { rule: "d-sent-at", name: "sentAt is a time of long ago", seen: "its sentAt is 2020", ...delivering((json) => ({ ...json, sentAt: "2020-01-01T00:00:00.000Z" })) },
  { rule: "d-paused-silent", name: "a pause has no effect", seen: "was paused", ...answering("PATCH", subscription, jsonReply(200, {})) },
  { rule: "d-resumed", name: "a resumed subscription stays silent", seen: "not delivered in time", ...answering("PATCH", subscription, jsonReply(200, {}), ({ body }) => body.includes("active")) },
  { rule: "d-deleted-silent", name: "a removed subscription still gets deliveries", seen: "was removed", ...answering("DELETE", subscription, { status: 204, headers: {}, body: "" }) },
  { rule: "d-delivered-foreign", name: "another customer's subscription gets the events", seen: "another client subscribed", ...confusing("other", "customer", subscriptions) },
  { rule: "d-events", name: "pages of 50", seen: "without parameters", ...changing("GET", events, (json) => ({ ...json, pageSize: 50 })) },
  { rule: "d-events", name: "an event without a sequence", seen: "sequence", ...changing("GET", events, (json) => ({ ...json, data: json.data.map((event: Json) => without(event, "sequence")) })) },
  { rule: "d-events-shipment", name: "shipmentId is ignored", seen: "does not match", ...withoutParameter("GET", events, "shipmentId") },
  { rule: "d-events-type", name: "eventTypes is ignored", seen: "does not match", ...withoutParameter("GET", events, "eventTypes") },
  { rule: "d-events-types", name: "only the first of several types counts", seen: "is not listed", call: (call) => {
    const [first] = call.query.getAll("eventTypes")
    if (first !== undefined) call.query.set("eventTypes", first)
    return call
  } },
  { rule: "d-events-from", name: "occurredFrom is exclusive", seen: "is not listed", call: (call) => {
    const from = call.query.get("occurredFrom")
    if (from !== null) call.query.set("occurredFrom", new Date(Date.parse(from) + 1).toISOString())
    return call
  } },
  { rule: "d-events-to", name: "occurredTo is inclusive", seen: "does not match", call: (call) => {
    const to = call.query.get("occurredTo")
    if (to !== null) call.query.set("occurredTo", new Date(Date.parse(to) + 1).toISOString())
    return call
  } },
  { rule: "d-events-order", name: "the order of storage", seen: "is listed after", ...changing("GET", events, firstLast) },
  { rule: "d-events-desc", name: "order is ignored", seen: "is listed after", ...withoutParameter("GET", events, "order") },
  { rule: "d-events-pages", name: "pages overlap", seen: "What pages of two list", ...changing("GET", events, (json, { query }) => query.get("page") === "2" ? { ...json, data: [json.data[0], json.data[0]] } : json) },
  { rule: "d-events-total", name: "a wrong total", seen: "totalCount is", ...changing("GET", events, (json) => ({ ...json, totalCount: json.totalCount + 1 })) },
  { rule: "d-events-page-headers", name: "no paging headers", seen: "no header with paging", answer: (reply) => ({ ...reply, headers: Object.fromEntries(Object.entries(reply.headers).filter(([name]) => name !== "link" && !/page|total/u.test(name))) }) },
  { rule: "d-events-page-size", name: "any pageSize is accepted", seen: "answered 200", ...accepting("GET", events) },
  { rule: "d-events-type-value", name: "an unknown event type is accepted", seen: "answered 200", ...accepting("GET", events) },
  { rule: "d-events-unauthenticated", name: "anybody may list events", seen: "answered 200", ...confusing("nobody", "customer", events) },
  { rule: "d-events-foreign", name: "events of another customer are listed", seen: "What is listed of", ...confusing("customer", "carrier", events) },
  { rule: "d-create-url", name: "an endpointUrl that is none is accepted", seen: "answered 200", ...accepting("POST", subscriptions) },
  { rule: "d-create-delivery-bounds", name: "a batchMaxSize of 0 is accepted", seen: "answered 200", ...accepting("POST", subscriptions) },
  { rule: "d-create-unknown-members", name: "unknown members are accepted", seen: "answered 200", ...accepting("POST", subscriptions) },
  { rule: "d-create-malformed", name: "500 for a body that is not JSON", seen: "answered 500", ...turning("POST", subscriptions, 400, 500) },
  { rule: "d-patch-answer", name: "a patch answers the subscription before", seen: "id and batchMaxSize", ...changing("PATCH", subscription, (json) => ({ ...json, delivery: { ...json.delivery, batchMaxSize: 200 } })) },
  { rule: "d-patch-null", name: "null in a patch changes nothing", seen: "eventTypes and shipmentIds", ...changingBody("PATCH", subscription, (json) => ({ ...json, filters: without(json.filters, "shipmentIds") })) },
  { rule: "d-patch-delivered", name: "deliveries go to the address before the patch", seen: "not delivered in time", ...changingBody("PATCH", subscription, (json) => without(json, "endpointUrl")) },
  { rule: "d-patch-delivered", name: "deliveries follow the filters before the patch", seen: "since a patch", ...changingBody("PATCH", subscription, (json) => without(json, "filters")) },
  { rule: "d-filter-both", name: "one matching filter is enough", seen: "a filter excludes it", ...changingBody("POST", subscriptions, (json) => json.filters?.shipmentIds === undefined ? json : { ...json, filters: without(json.filters, "eventTypes") }) },
  { rule: "d-events-combined", name: "times are ignored when there is a type", seen: "does not match the filter", call: (call) => {
    if (call.query.has("eventTypes")) {
      call.query.delete("occurredFrom")
      call.query.delete("occurredTo")
    }
    return call
  } },
  { rule: "d-patch-invalid", name: "an unknown status is accepted", seen: "answered 200", ...accepting("PATCH", subscription) },
  { rule: "d-delete-status", name: "200 for a delete", seen: "answered 200", answer: (reply, call) => call.method === "DELETE" ? jsonReply(200, {}) : reply },
  { rule: "d-events-past-the-end", name: "the last page again", seen: "page 9999", call: (call) => {
    if (call.query.get("page") === "9999") call.query.set("page", "1")
    return call
  } },
  { rule: "d-events-unknown-shipment", name: "500 for an unknown shipment", seen: "answered 500", ...turning("GET", events, 200, 500) },
  { rule: "d-events-page-range", name: "page 0 is accepted", seen: "page=0 answered 200", ...accepting("GET", events) },
  { rule: "d-events-order-value", name: "any order is accepted", seen: "order=sideways answered 200", ...accepting("GET", events) },
  { rule: "d-events-time-value", name: "any time is accepted", seen: "occurredFrom=yesterday answered 200", ...accepting("GET", events) },
  { rule: "d-events-error-body", name: "a body with another status", seen: "its body says", answer: (reply) => reply.status >= 400 ? { ...reply, body: JSON.stringify({ ...JSON.parse(reply.body), status: 418 }) } : reply },
  { rule: "d-create-event-types", name: "an event type is lost", seen: "eventTypes is", ...changing("GET", subscription, (json) => ({ ...json, filters: { ...json.filters, eventTypes: json.filters.eventTypes.slice(1) } })) },
  { rule: "d-events-all-types", name: "an event type of the list is refused", seen: "answered 400", ...answering("GET", events, jsonReply(400, { status: 400, title: "No" }), ({ query }) => query.getAll("eventTypes").includes("AIR_ARRIVAL")) },
  { rule: "d-events-offset", name: "the offset of a time is ignored", seen: "does not match", call: (call) => {
    const from = call.query.get("occurredFrom")
    if (from !== null) call.query.set("occurredFrom", from.replace("-05:00", "Z"))
    return call
  } },
  { rule: "d-rate-limit", name: "rateLimitPerMinute is ignored", seen: "where rateLimitPerMinute is 2", ...changingBody("POST", subscriptions, (json) => ({ ...json, delivery: without(json.delivery, "rateLimitPerMinute") })) },
  { rule: "d-rate-limit", name: "a subscription with a rate gets nothing", seen: "Nothing came", delivery: () => "swallow" },
  { rule: "d-max-attempts", name: "nothing is delivered", seen: "Nothing came", delivery: () => "swallow" },
  { rule: "d-max-attempts", name: "maxAttempts is ignored", seen: "where maxAttempts is 1", ...changingBody("POST", subscriptions, (json) => ({ ...json, delivery: without(json.delivery, "maxAttempts") })) },
  { rule: "d-webhook-id", name: "another webhook-id for each attempt", seen: "webhook-id", ...withHeaders((headers, nth) => ({ ...headers, "webhook-id": `attempt-${nth}` })) },
  { rule: "d-events-members", name: "an event without its origin", seen: "origin", ...changing("GET", events, (json) => ({ ...json, data: json.data.map((event: Json) => ({ ...event, shipment: without(event.shipment, "origin") })) })) }
]

const charges = /^\/pfc\/v1\/subscriptions$/u
const charge = /^\/pfc\/v1\/subscriptions\/[^/]+$/u
const inFlight = /\/inflight$/u
const webhookTest = /\/webhooks\/test$/u

const freightCharges: ReadonlyArray<Mutant> = [
  { rule: "e-create", name: "a subscription without an id", seen: "no subscriptionId", ...changing("POST", charges, (json) => without(json, "subscriptionId")) },
  { rule: "e-create", name: "a subscription without its dates", seen: "createdAt", ...changing("POST", charges, (json) => without(json, "createdAt")) },
  { rule: "e-create-defaults", name: "daily by default", seen: "frequency, includeEventLog", ...changing("POST", charges, (json) => ({ ...json, frequency: "daily" })) },
  { rule: "e-create-options", name: "frequency is lost", seen: "frequency, includeEventLog", ...changingBody("POST", charges, (json) => without(json, "frequency")) },
  { rule: "e-create-required", name: "no accounts are accepted", seen: "answered 200", ...accepting("POST", charges, { subscriptionId: "1" }) },
  { rule: "e-create-accounts", name: "an empty list of accounts is accepted", seen: "accounts []", ...accepting("POST", charges, { subscriptionId: "1" }) },
  { rule: "e-create-frequency", name: "any frequency is accepted", seen: "answered 200", ...accepting("POST", charges, { subscriptionId: "1" }) },
  { rule: "e-create-conflict", name: "two subscriptions for an account", seen: "answered 201", ...turning("POST", charges, 409, 201, { subscriptionId: "1" }) },
  { rule: "e-create-foreign-account", name: "a subscription to another's account", seen: "answered 201", ...turning("POST", charges, 403, 201, { subscriptionId: "1" }) },
  { rule: "e-get", name: "the accounts are lost", seen: "accounts is", ...changing("GET", charge, (json) => ({ ...json, accounts: ["OTHER"] })) },
  { rule: "e-unknown", name: "200 for an unknown subscription", seen: "answered 200", ...turning("GET", charge, 404, 200) },
  { rule: "e-cancel", name: "a cancel has no effect", seen: "is still active", ...answering("DELETE", charge, { status: 204, headers: {}, body: "" }) },
  { rule: "e-foreign", name: "another client sees a subscription", seen: "answered 200", ...confusing("other", "customer", charge) },
  { rule: "e-in-flight", name: "the list is empty", seen: "is not listed", ...changing("GET", inFlight, () => []) },
  { rule: "e-in-flight", name: "an object instead of an array", seen: "is not as the interface", ...changing("GET", inFlight, (json) => ({ data: json })) },
  { rule: "e-create-several-accounts", name: "the second account is lost", seen: "accounts is", ...changingBody("POST", charges, (json) => ({ ...json, accounts: json.accounts.slice(0, 1) })) },
  { rule: "e-in-flight", name: "a bill twice", seen: "The number of different bills", ...changing("GET", inFlight, (json) => [...json, ...json]) },
  { rule: "e-in-flight-all-accounts", name: "billScope is ignored", seen: "0 are listed", ...changingBody("POST", charges, (json) => without(json, "billScope")) },
  { rule: "e-in-flight-account", name: "bills of another account", seen: "is a bill of", answer: (reply, call, { bills }) => inFlight.test(call.path) ? { ...reply, body: JSON.stringify(JSON.parse(reply.body).map((bill: Json) => ({ ...bill, billTo: { ...bill.billTo, account: bills!.foreignAccount } }))) } : reply },
  { rule: "e-in-flight-empty", name: "404 for an empty list", seen: "answered 404", answer: (reply) => reply.body === "[]" ? jsonReply(404, { code: "NOT_FOUND", message: "None" }) : reply },
  { rule: "e-unauthenticated", name: "401 without a code", seen: "error body", answer: (reply) => reply.status === 401 ? jsonReply(401, { message: "Who?" }) : reply },
  { rule: "e-invalid-code", name: "another code for an invalid body", seen: "the code BAD", answer: (reply) => reply.status === 400 ? jsonReply(400, { code: "BAD", message: "Bad" }) : reply },
  { rule: "e-invalid-details", name: "no details", seen: "The details of", answer: (reply) => reply.status === 400 ? jsonReply(400, { code: "INVALID_REQUEST", message: "Bad" }) : reply },
  { rule: "e-notified", name: "removals are not notified", seen: "notifications of it came", delivery: (delivery) => delivery.body.includes("PFC3") ? "swallow" : delivery },
  { rule: "e-notification-shape", name: "one object instead of an array", seen: "is not as the interface", ...delivering(([first]) => first) },
  { rule: "e-notification-members", name: "a bill without its charges", seen: "charges", ...delivering((list) => list.map((each: Json) => without(each, "charges"))) },
  { rule: "e-notification-versions", name: "versions are not counted", seen: "header.function", ...delivering((list) => list.map((each: Json) => ({ ...each, pfc: { ...each.pfc, function: "PFC1", header: { function: "PFC1" } } }))) },
  { rule: "e-notification-log", name: "no change log", seen: "no change log", ...delivering((list) => list.map((each: Json) => ({ ...each, charges: without(each.charges, "changeLog") }))) },
  { rule: "e-notification-signed", name: "unsigned notifications", seen: "signature", ...withHeaders((headers) => without(headers, "webhook-signature")) },
  { rule: "e-notification-retried", name: "a refused notification is forgotten", seen: "did not come again", receiverStatus: () => 200 },
  { rule: "e-notification-retried", name: "a repeated notification has another id", seen: "webhook-id", ...withHeaders((headers, nth) => ({ ...headers, "webhook-id": `attempt-${nth}` })) },
  { rule: "e-notification-foreign", name: "bills of another account are sent", seen: "without access", ...delivering((list) => list.map((each: Json) => ({ ...each, billTo: { ...each.billTo, account: each.billTo.account.replace(/^A-/u, "B-") } }))) },
  { rule: "e-test", name: "a webhook test sends nothing", seen: "No test delivery came", ...answering("POST", webhookTest, jsonReply(200, { message: "Sent" })) },
  { rule: "e-test-sample", name: "a sample that is no test", seen: "isTest of", ...delivering((list) => list.map((each: Json) => ({ ...each, pfc: { ...each.pfc, isTest: false } }))) },
  { rule: "e-test-sample", name: "an empty sample", seen: "isTest of", ...delivering(() => []) },
  { rule: "e-test-sample", name: "no sample is sent", seen: "No test delivery came", ...answering("POST", webhookTest, jsonReply(200, { message: "Sent" })) },
  { rule: "e-test-refused", name: "a refused test succeeds", seen: "answered 200", ...turning("POST", webhookTest, 400, 200) },
  { rule: "e-create-status", name: "200 for a new subscription", seen: "answered 200", ...turning("POST", charges, 201, 200) },
  { rule: "e-create-url", name: "a webhookUrl that is none is accepted", seen: "answered 200", ...accepting("POST", charges, { subscriptionId: "1" }) },
  { rule: "e-create-scope", name: "any billScope is accepted", seen: "answered 200", ...accepting("POST", charges, { subscriptionId: "1" }) },
  { rule: "e-create-event-log", name: "any includeEventLog is accepted", seen: "answered 200", ...accepting("POST", charges, { subscriptionId: "1" }) },
  { rule: "e-create-malformed", name: "500 for a body that is not JSON", seen: "answered 500", ...turning("POST", charges, 400, 500) },
  { rule: "e-cancel-status", name: "200 for a cancel", seen: "answered 200", answer: (reply, call) => call.method === "DELETE" ? jsonReply(200, {}) : reply },
  { rule: "e-cancel-frees", name: "a cancelled subscription still holds its account", seen: "answered 409", ...answering("DELETE", charge, { status: 204, headers: {}, body: "" }) },
  { rule: "e-not-found-code", name: "another code for an unknown subscription", seen: "the code MISSING", answer: (reply) => reply.status === 404 ? jsonReply(404, { code: "MISSING", message: "None" }) : reply },
  { rule: "e-test-url", name: "a test without an address succeeds", seen: "answered 200", ...accepting("POST", webhookTest) },
  { rule: "e-create-all-accounts", name: "billScope is ignored", seen: "billScope is", ...changingBody("POST", charges, (json) => without(json, "billScope")) },
  { rule: "e-notification-no-log", name: "includeEventLog is ignored", seen: "although includeEventLog is false", ...changingBody("POST", charges, (json) => without(json, "includeEventLog")) },
  { rule: "e-cancelled-silent", name: "notifications go on after a cancel", seen: "answered 409", ...answering("DELETE", charge, { status: 204, headers: {}, body: "" }) },
  { rule: "e-notification-shape", name: "charges as text", seen: "grossCharges", ...delivering((list) => list.map((each: Json) => ({ ...each, charges: { ...each.charges, grossCharges: "858.55" } }))) },
  { rule: "e-in-flight-members", name: "a bill in flight without its origin", seen: "origin", ...changing("GET", inFlight, (json) => json.map((each: Json) => without(each, "origin"))) }
]

export const mutants: ReadonlyArray<Mutant> = [...accessMutants, ...shipmentStatus, ...invoicing, ...pickupMutants, ...transitEvents, ...freightCharges, ...fileMutants, ...windowMutants, ...tokenMutants]
