"""How mentions stand in sentences of English answers: the scopes that a reader gives them by the definitions.

Every line is a text and what is mentioned in it, with the scope; `any` where readers may differ.
"""

from __future__ import annotations

import pytest
from mentions_in_words import check_mentions

DENIED = [
    ("You do not have diabetes.", "diabetes mellitus: negated"),
    (
        "You don't have asthma, COPD, or heart failure.",
        "asthma: negated; chronic obstructive pulmonary disease: negated; heart failure: negated",
    ),
    (
        "There's no evidence of diabetes or hypertension in your record.",
        "diabetes mellitus: negated; hypertension: negated",
    ),
    ("No history of stroke, but you have hypertension.", "stroke: negated; hypertension: asserted"),
    ("You are not taking warfarin at the moment.", "warfarin: negated"),
    ("Without diabetes, your targets would be looser.", "diabetes mellitus: negated"),
    ("You were never diagnosed with asthma.", "asthma: negated"),
    ("Cancer has been ruled out.", "cancer: negated"),
    ("Your chart is negative for hepatitis C.", "hepatitis c: negated"),
    ("Ibuprofen is not recommended for you.", "ibuprofen: negated"),
    ("Since you already take aspirin, do not add ibuprofen.", "aspirin: asserted; ibuprofen: negated"),
    (
        "Your kidneys are fine: no chronic kidney disease, and your creatinine is 0.9 mg/dL.",
        "chronic kidney disease: negated; creatinine:0.9: asserted",
    ),
    ("Your record shows neither diabetes nor hypertension.", "diabetes mellitus: negated; hypertension: negated"),
    ("You no longer take warfarin.", "warfarin: negated"),
    ("I can't recommend naproxen with your heart failure.", "naproxen: negated; heart failure: asserted"),
    ("There's nothing in your chart to suggest epilepsy.", "epilepsy: negated"),
    ("None of your results point to leukemia.", "leukemia: negated"),
    ("Your scan was negative for pulmonary embolism.", "pulmonary embolism: negated"),
    ("We've excluded celiac disease.", "celiac disease: negated"),
    (
        "Absent a history of asthma, beta-blockers such as propranolol are fine.",
        "asthma: negated; propranolol: example",
    ),
    ("You do not need insulin for your type 2 diabetes.", "insulin: negated; type 2 diabetes mellitus: asserted"),
    ("Not having diabetes, you can eat fruit freely.", "diabetes mellitus: negated"),
    (
        "Your history includes asthma but not COPD.",
        "asthma: asserted; chronic obstructive pulmonary disease: negated",
    ),
    (
        "Please don't take ibuprofen, naproxen, or aspirin without asking.",
        "ibuprofen: negated; naproxen: negated; aspirin: negated",
    ),
    ("Hypertension, not diabetes, is your main problem.", "hypertension: asserted; diabetes mellitus: negated"),
    ("This isn't diabetes; it's prediabetes.", "diabetes mellitus: negated; prediabetes: mentioned"),
    ("You may take acetaminophen but not ibuprofen.", "acetaminophen: advised; ibuprofen: negated"),
    ("Unlike your brother, you don't have asthma.", "asthma: negated"),
    ("A patient with heart failure should not take pioglitazone.", "heart failure: general; pioglitazone: negated"),
    ("There is currently no reason to think you have lupus.", "systemic lupus erythematosus: negated"),
    ("The cough isn't caused by asthma but by lisinopril.", "asthma: negated; lisinopril: mentioned"),
    ("Your LDL is not 70 mg/dL but 170 mg/dL.", "ldl:70: negated; ldl:170: asserted"),
    ("You are not a candidate for semaglutide.", "semaglutide: negated"),
    (
        "Semaglutide isn't an option for you because of your pancreatitis.",
        "semaglutide: negated; pancreatitis: asserted",
    ),
    ("Your pancreatitis rules out semaglutide.", "pancreatitis: asserted; semaglutide: negated"),
]
AVOIDED = [
    ("Avoid ibuprofen, naproxen and diclofenac.", "ibuprofen: avoided; naproxen: avoided; diclofenac: avoided"),
    (
        "Please avoid over-the-counter painkillers like ibuprofen (Advil, Motrin) or naproxen (Aleve).",
        "ibuprofen: avoided; naproxen: avoided",
    ),
    ("Stop taking ibuprofen and use acetaminophen instead.", "ibuprofen: avoided; acetaminophen: advised"),
    ("Use acetaminophen instead of ibuprofen for your headaches.", "acetaminophen: advised; ibuprofen: avoided"),
    (
        "Ibuprofen should be avoided because you have chronic kidney disease.",
        "ibuprofen: avoided; chronic kidney disease: asserted",
    ),
    ("NSAIDs such as ibuprofen, which are hard on the kidneys, should be avoided.", "ibuprofen: avoided"),
    (
        "Ibuprofen and naproxen are best avoided with your CKD.",
        "ibuprofen: avoided; naproxen: avoided; chronic kidney disease: asserted",
    ),
    (
        "Given your hypertension, avoid decongestants such as pseudoephedrine.",
        "hypertension: asserted; pseudoephedrine: avoided",
    ),
    ("Ibuprofen is contraindicated in people with heart failure.", "ibuprofen: avoided; heart failure: general"),
    (
        "Avoid the following:\n- ibuprofen\n- naproxen\n\nYou take lisinopril.",
        "ibuprofen: avoided; naproxen: avoided; lisinopril: asserted",
    ),
    ("Medications to avoid: ibuprofen, naproxen.", "ibuprofen: avoided; naproxen: avoided"),
    ("You are allergic to penicillin.", "penicillin: avoided"),
    ("Patients on warfarin should avoid aspirin.", "warfarin: any; aspirin: avoided"),
    ("Since your eGFR is 28 mL/min/1.73 m2, metformin must be stopped.", "egfr:28: asserted; metformin: avoided"),
    ("You can safely continue amlodipine, but skip the ibuprofen.", "amlodipine: asserted; ibuprofen: avoided"),
    ("Rather than ibuprofen, try acetaminophen up to 3 g a day.", "ibuprofen: avoided; acetaminophen: advised"),
    ("You take atorvastatin rather than simvastatin.", "atorvastatin: asserted; simvastatin: avoided"),
    ("Instead of naproxen you could use acetaminophen.", "naproxen: avoided; acetaminophen: hypothetical"),
]
FAMILY = [
    ("Your mother had diabetes.", "diabetes mellitus: family"),
    ("You have a family history of colon cancer.", "colon cancer: family"),
    ("Diabetes runs in your family.", "diabetes mellitus: family"),
    (
        "Your father had a heart attack at 55, so your LDL of 130 mg/dL matters.",
        "myocardial infarction: family; ldl:130: asserted",
    ),
    (
        "Your sister takes levothyroxine for hypothyroidism, but you take only metformin.",
        "levothyroxine: family; hypothyroidism: family; metformin: asserted",
    ),
    ("Your brother was diagnosed with asthma. He uses albuterol.", "asthma: family; albuterol: family"),
    ("You are 67 years old and your father is 92 years old.", "age:67: asserted; age:92: family"),
    ("Because both of your parents had hypertension, you're at higher risk.", "hypertension: family"),
    ("With a first-degree relative with colon cancer, you should be screened at 40.", "colon cancer: family"),
    ("Your grandmother's osteoporosis doesn't mean that you have it.", "osteoporosis: family"),
    ("Your mother, who had diabetes, took metformin.", "diabetes mellitus: family; metformin: family"),
    ("Your 82-year-old mother has dementia.", "age:82: family; dementia: family"),
    (
        "Your wife's blood pressure of 160/100 is a different matter.",
        "bp_systolic:160: family; bp_diastolic:100: family",
    ),
    (
        "Your daughter's asthma is another matter, but your COPD is stable.",
        "asthma: family; chronic obstructive pulmonary disease: asserted",
    ),
]
EXAMPLES = [
    ("For example, metformin lowers glucose in the liver.", "metformin: example"),
    ("Some drugs, e.g. metformin or glipizide, lower blood sugar.", "metformin: example; glipizide: example"),
    ("Statins such as atorvastatin and rosuvastatin lower LDL.", "atorvastatin: example; rosuvastatin: example"),
    ("Medicines like lisinopril can cause a cough.", "lisinopril: example"),
    ("Consider starting an SGLT2 inhibitor such as empagliflozin.", "empagliflozin: example"),
]
SUPPOSED = [
    ("If you have chest pain, take nitroglycerin and call 911.", "nitroglycerin: hypothetical"),
    (
        "If you develop diabetes, we would start metformin.",
        "diabetes mellitus: hypothetical; metformin: hypothetical",
    ),
    ("You might have sleep apnea.", "obstructive sleep apnea: hypothetical"),
    ("You could develop heart failure over time.", "heart failure: hypothetical"),
    ("Insulin may be needed later.", "insulin: hypothetical"),
    ("We may need to add insulin if your HbA1c stays above 8%.", "insulin: hypothetical; hba1c:8: hypothetical"),
    (
        "This lowers your risk of stroke and heart attack.",
        "stroke: hypothetical; myocardial infarction: hypothetical",
    ),
    ("Do you have asthma?", "asthma: hypothetical"),
    (
        "Seek care if your blood pressure is over 180/120 mmHg.",
        "bp_systolic:180: hypothetical; bp_diastolic:120: hypothetical",
    ),
    ("Your hemoglobin is 10.2 g/dL, so anemia is possible.", "hemoglobin:10.2: asserted; anemia: hypothetical"),
    ("Metformin could upset your stomach.", "metformin: hypothetical"),
    ("My advice would change if you were pregnant or had gout.", "gout: hypothetical"),
    ("Suppose your LDL was 190 mg/dL; then we'd start rosuvastatin.", "ldl:190: hypothetical; rosuvastatin: any"),
    ("Should your glucose fall under 70 mg/dL, take glucose tablets.", "glucose:70: hypothetical"),
    (
        "Were you to develop angina, nitroglycerin would help.",
        "angina pectoris: hypothetical; nitroglycerin: hypothetical",
    ),
    ("Depending on your next A1c, semaglutide might be an option.", "semaglutide: hypothetical"),
    ("Your doctor may prescribe gabapentin.", "gabapentin: hypothetical"),
    (
        "I'm a 54-year-old woman with asthma. Can I take ibuprofen?",
        "age:54: asserted; sex:female: asserted; asthma: asserted; ibuprofen: hypothetical",
    ),
    ("Only if your INR exceeds 4 should warfarin be held.", "inr:4: hypothetical; warfarin: hypothetical"),
]
GENERAL = [
    ("People with diabetes often take metformin.", "diabetes mellitus: general; metformin: general"),
    ("Metformin is commonly used for type 2 diabetes.", "metformin: general; type 2 diabetes mellitus: general"),
    (
        "In general, adults with hypertension should keep BP below 130/80 mmHg.",
        "hypertension: general; bp_systolic:130: general; bp_diastolic:80: general",
    ),
    ("HbA1c should be below 7%.", "hba1c:7: general"),
    ("Aim for an LDL under 70 mg/dL.", "ldl:70: general"),
    ("Your HbA1c goal is 6.5%.", "hba1c:6.5: general"),
    ("Your HbA1c is 7.8%, which is above the target of 7%.", "hba1c:7.8: asserted; hba1c:7: general"),
    ("Your LDL of 130 mg/dL is above your goal of 100 mg/dL.", "ldl:130: asserted; ldl:100: general"),
    ("A normal fasting glucose is 70-99 mg/dL.", "glucose:70: general; glucose:99: general"),
    ("A normal blood pressure is 120/80.", "bp_systolic:120: general; bp_diastolic:80: general"),
    ("Adults over 65 years old should be vaccinated.", "age:65: general"),
    ("Women over 50 years old need screening.", "age:50: general"),
    ("In women, heart attacks can feel different.", "myocardial infarction: general"),
    ("When your blood sugar drops below 70 mg/dL, eat something sweet.", "glucose:70: general"),
    (
        "To protect your kidneys from diabetes, keep your HbA1c under 7%.",
        "diabetes mellitus: asserted; hba1c:7: general",
    ),
    (
        "Many people with high blood pressure take more than one drug, for example amlodipine plus valsartan.",
        "hypertension: general; amlodipine: any; valsartan: any",
    ),
    ("The ADA recommends an A1c below 7% for most adults.", "hba1c:7: general"),
    ("Normal potassium runs from 3.5 to 5.0 mmol/L.", "potassium:3.5: general; potassium:5: general"),
    (
        "Ideally, your resting heart rate should stay between 60 and 100 bpm.",
        "heart_rate:60: general; heart_rate:100: general",
    ),
    ("Creatinine: 1.4 (ref 0.7-1.3)", "creatinine:1.4: asserted; creatinine:0.7: general; creatinine:1.3: general"),
    ("For men your age, PSA is often 2 to 4 ng/mL.", "psa:2: general; psa:4: general"),
    (
        "Your heart rate should reach 110 to 130 bpm during exercise.",
        "heart_rate:110: general; heart_rate:130: general",
    ),
    ("In patients with CKD, metformin doses are reduced.", "chronic kidney disease: general; metformin: any"),
    ("Your eGFR has dropped below 60.", "egfr:60: general"),
    ("Heart failure patients often take furosemide.", "heart failure: general; furosemide: general"),
    (
        "Keep your LDL below 70 mg/dL, given your coronary artery disease.",
        "ldl:70: general; coronary artery disease: asserted",
    ),
]
ADVISED = [
    ("I recommend adding insulin glargine.", "insulin glargine: advised"),
    ("I would suggest starting sertraline.", "sertraline: advised"),
    ("Ask your doctor about switching to losartan.", "losartan: advised"),
    ("You should take aspirin 81 mg daily.", "aspirin: advised"),
    ("You can take acetaminophen for pain.", "acetaminophen: advised"),
    ("Acetaminophen is a safer choice for your pain.", "acetaminophen: advised"),
    ("Take metformin 500 mg with 150 ml of water.", "metformin: advised"),
    ("Warfarin should be taken at the same time each day.", "warfarin: advised"),
    ("We will start you on amlodipine 5 mg.", "amlodipine: advised"),
    ("Let's add ezetimibe.", "ezetimibe: advised"),
]
ASSERTED = [
    ("You have no known allergies and take lisinopril 10 mg daily.", "lisinopril: asserted"),
    ("Your diabetes is not well controlled.", "diabetes mellitus: asserted"),
    ("Your hypertension is not a reason to stop moving.", "hypertension: asserted"),
    (
        "It is not only your diabetes but also your hypertension that matters.",
        "diabetes mellitus: asserted; hypertension: asserted",
    ),
    ("There is no doubt that you have hypertension.", "hypertension: asserted"),
    ("Do not stop taking your metformin without talking to us.", "metformin: asserted"),
    ("Never skip your lisinopril.", "lisinopril: asserted"),
    ("Limit salt because of your hypertension.", "hypertension: asserted"),
    ("Because you have diabetes, avoid fruit juice.", "diabetes mellitus: asserted"),
    (
        "Your blood pressure of 150/95 mmHg is higher than we would like.",
        "bp_systolic:150: asserted; bp_diastolic:95: asserted",
    ),
    ("Your BP is normal at 118/76.", "bp_systolic:118: asserted; bp_diastolic:76: asserted"),
    (
        "You take metformin, lisinopril, and atorvastatin.",
        "metformin: asserted; lisinopril: asserted; atorvastatin: asserted",
    ),
    (
        "Your current medications are metformin 500 mg twice daily and amlodipine 5 mg.",
        "metformin: asserted; amlodipine: asserted",
    ),
    ("Continue metformin as prescribed.", "metformin: asserted"),
    ("You were diagnosed with gout in 2019.", "gout: asserted"),
    ("At age 45 you were diagnosed with hypertension.", "age:45: mentioned; hypertension: asserted"),
    ("You are a seventy six year old man.", "age:76: asserted; sex:male: asserted"),
    (
        "You have had hypertension for 10 years, since 2 years ago you take losartan.",
        "hypertension: asserted; losartan: asserted",
    ),
    ("Your BP was one thirty over eighty.", "bp_systolic:130: asserted; bp_diastolic:80: asserted"),
    ("You weigh 80 kg and are 175 cm tall.", "weight:80: asserted; height:175: asserted"),
    ("Your HbA1c improved from 8.4% to 7.2%.", "hba1c:8.4: past; hba1c:7.2: asserted"),
    (
        "Your potassium (5.4 mmol/L) and creatinine (1.6 mg/dL) are high.",
        "potassium:5.4: asserted; creatinine:1.6: asserted",
    ),
    (
        "LDL: 130 mg/dL\nHDL: 45 mg/dL\nTriglycerides: 180 mg/dL",
        "ldl:130: asserted; hdl:45: asserted; triglyceride:180: asserted",
    ),
    (
        "Your current medications:\n1. Metformin 500 mg\n2. Lisinopril 10 mg",
        "metformin: asserted; lisinopril: asserted",
    ),
    (
        "You have type 2 diabetes (HbA1c 8.1%) and stage 3 chronic kidney disease (eGFR 48).",
        (
            "type 2 diabetes mellitus: asserted; hba1c:8.1: asserted; chronic kidney "
            "disease stage 3: asserted; egfr:48: asserted"
        ),
    ),
    (
        "As a woman with osteoporosis, you need vitamin D.",
        "sex:female: asserted; osteoporosis: asserted; cholecalciferol: any",
    ),
    ("Your glucose was 180 mg/dL fasting and 240 mg/dL after meals.", "glucose:180: asserted; glucose:240: asserted"),
    ("Unlike ibuprofen, acetaminophen is kinder to your kidneys.", "ibuprofen: any; acetaminophen: asserted"),
    ("Although you have asthma, your SpO2 of 97% is good.", "asthma: asserted; spo2:97: asserted"),
    ("Your heart rate of 104 beats per minute could be due to anxiety.", "heart_rate:104: asserted"),
    ("Your metformin could upset your stomach.", "metformin: asserted"),
    (
        "I see that you're on both Eliquis and aspirin, which raises your bleeding risk.",
        "apixaban: asserted; aspirin: asserted",
    ),
    ("It looks like you have stage 3b CKD, not stage 4.", "chronic kidney disease: asserted"),
    ("Hold your metformin on the day of the contrast scan.", "metformin: asserted"),
    (
        "Your LDL went from 160 mg/dL to 98 mg/dL on atorvastatin.",
        "ldl:160: past; ldl:98: asserted; atorvastatin: asserted",
    ),
    (
        "A blood pressure reading of 162/98 was recorded today.",
        "bp_systolic:162: asserted; bp_diastolic:98: asserted",
    ),
    ("Your A1c sits at 9.1, well above goal.", "hba1c:9.1: asserted"),
    ("At 102.3°F your temperature is elevated.", "temperature:102.3: asserted"),
    ("Your temperature is elevated at 102.3°F.", "temperature:102.3: asserted"),
    ("Your BMI of 33 puts you in the obese range.", "bmi:33: asserted; obesity: any"),
    ("You're 5'4\" and weigh 150 lb.", "weight:150: asserted"),
    ("She is a 54 y/o female with T2DM.", "age:54: asserted; sex:female: asserted; type 2 diabetes mellitus: any"),
    ("This 45 yo man has gout.", "age:45: asserted; sex:male: asserted; gout: any"),
    ("As someone aged 71, you should get the shingles vaccine.", "age:71: asserted; zoster vaccine: any"),
    ("Keep taking Norvasc; it is amlodipine.", "amlodipine: asserted"),
    ("You previously took glipizide but switched to sitagliptin.", "glipizide: past; sitagliptin: any"),
    (
        "Diabetes, hypertension and high cholesterol are all listed in your record.",
        "diabetes mellitus: asserted; hypertension: asserted; hypercholesterolemia: asserted",
    ),
    ("Avoid alcohol while taking metronidazole.", "metronidazole: asserted"),
    ("Lisinopril, which you take daily, can cause a cough.", "lisinopril: asserted"),
    ("The metformin you take may cause loose stools.", "metformin: asserted"),
    ("Your cholesterol is controlled with Crestor.", "rosuvastatin: asserted"),
    ("Your A1c (7.9%) is up from 7.1% in March.", "hba1c:7.9: asserted; hba1c:7.1: asserted"),
    (
        "BP: 150/95; HR: 88; Temp: 98.6 F; SpO2: 97%.",
        (
            "bp_systolic:150: asserted; bp_diastolic:95: asserted; heart_rate:88: asserted; "
            "temperature:98.6: asserted; spo2:97: asserted"
        ),
    ),
    ("Your potassium came back high: 5.8.", "potassium:5.8: asserted"),
    (
        "Your total cholesterol is 210, with an LDL of 140 and HDL of 38.",
        "total_cholesterol:210: asserted; ldl:140: asserted; hdl:38: asserted",
    ),
    ("Your sodium and potassium are 138 and 4.2 mmol/L.", "sodium:138: asserted; potassium:4.2: asserted"),
    ("Your AST and ALT were 41 and 62 U/L, respectively.", "ast:41: asserted; alt:62: asserted"),
    ("Glucose was 126 mg/dL (7.0 mmol/L).", "glucose:126: asserted; glucose:7: asserted"),
    ("Thanks to lisinopril your pressure has come down to 128/78.", "lisinopril: asserted"),
    ("Don't forget your levothyroxine in the morning.", "levothyroxine: asserted"),
    ("My fasting glucose is 140 mg/dL and I take metformin.", "glucose:140: asserted; metformin: asserted"),
    (
        "I have type 2 diabetes and high blood pressure; what should I eat?",
        "type 2 diabetes mellitus: asserted; hypertension: asserted",
    ),
    ("You had pneumonia in 2020 and a stroke in 2021.", "pneumonia: past; stroke: past"),
    ("Please bring your insulin and glucometer.", "insulin: asserted"),
    ("Your doctor has prescribed Lasix 40 mg.", "furosemide: asserted"),
    ("Since starting Ozempic you've lost 8 kg.", "semaglutide: asserted"),
    ("Ask your wife to help you with your insulin.", "insulin: asserted"),
    ("Walk with a friend to control your diabetes.", "diabetes mellitus: asserted"),
    ("Patients' diets differ; your gout calls for less meat.", "gout: asserted"),
]
MENTIONED = [
    ("Metformin works by reducing glucose production.", "metformin: mentioned"),
    ("Hypertension is a silent disease.", "hypertension: mentioned"),
    ("Talk to your doctor before taking ibuprofen.", "ibuprofen: mentioned"),
    ("Exercise helps control diabetes and hypertension.", "diabetes mellitus: mentioned; hypertension: mentioned"),
    ("You had your appendix out at age 12.", "age:12: mentioned"),
    ("The management of hypertension matters.", "hypertension: mentioned"),
    (
        "Metformin: 500 mg twice daily with meals. Lisinopril: 10 mg in the morning.",
        "metformin: mentioned; lisinopril: mentioned",
    ),
    ("Here is some information on diabetes.", "diabetes mellitus: mentioned"),
    ("Drugs for this include metformin.", "metformin: mentioned"),
]
NOTHING = [
    ("Lose 5 kg and lower your HbA1c by 1%.", ""),
    ("Check your blood pressure 2 times a day for 4 weeks.", ""),
    ("Today's reading of 162/98 is too high.", ""),
    ("Humans and womanhood have nothing to do with it.", ""),
    ("Take your time and don't worry.", ""),
    ("Eat more iron-rich food such as spinach.", ""),
    ("Limit sodium to 2 g per day and fluids to 1.5 L.", ""),
    ("Walk 30 minutes at 60-70% of your maximum heart rate.", ""),
    ("Your fasting sugars run 140-160 mg/dL.", ""),
    ("Statins help. NSAIDs do not.", ""),
]


@pytest.mark.parametrize(("text", "expected"), DENIED)
def test_what_is_denied_is_negated_in_english(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), AVOIDED)
def test_what_is_advised_against_is_avoided_in_english(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), FAMILY)
def test_what_others_have_is_of_the_family_in_english(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), EXAMPLES)
def test_examples_are_no_facts_in_english(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), SUPPOSED)
def test_what_is_supposed_is_hypothetical_in_english(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), GENERAL)
def test_what_is_said_of_people_goals_and_thresholds_is_general_in_english(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), ADVISED)
def test_what_is_recommended_is_advised_in_english(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), ASSERTED)
def test_what_is_said_of_the_patient_is_asserted_in_english(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), MENTIONED)
def test_what_is_said_of_nobody_is_only_mentioned_in_english(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), NOTHING)
def test_what_only_looks_like_a_mention_is_none_in_english(text: str, expected: str) -> None:
    check_mentions(text, expected)
