"""How mentions stand in sentences of Korean answers: the scopes that a reader gives them by the definitions.

Every line is a text and what is mentioned in it, with the scope; `any` where readers may differ.
"""

from __future__ import annotations

import pytest
from mentions_in_words import check_mentions

DENIED = [
    ("당뇨병은 없습니다.", "diabetes mellitus: negated"),
    ("고혈압이나 당뇨병 병력은 없으십니다.", "hypertension: negated; diabetes mellitus: negated"),
    ("현재 와파린은 복용하고 있지 않습니다.", "warfarin: negated"),
    ("천식으로 진단받은 적은 없습니다.", "asthma: negated"),
    ("당뇨병이 아니라 당뇨병 전단계입니다.", "diabetes mellitus: negated; prediabetes: any"),
    ("메트포르민은 귀하의 처방에 없습니다.", "metformin: negated"),
    ("이부프로펜은 복용하지 않는 것이 좋습니다.", "ibuprofen: negated"),
    ("이부프로펜을 드시면 안 됩니다.", "ibuprofen: negated"),
    ("67세 남성으로, 당뇨병은 없습니다.", "age:67: asserted; sex:male: asserted; diabetes mellitus: negated"),
    ("메트포르민(글루코파지)은 현재 복용하지 않으십니다.", "metformin: negated"),
    ("천식이 없으셔도 흡연은 피하세요.", "asthma: negated"),
    ("심부전이 있으셔서 나프록센은 권하지 않습니다.", "heart failure: asserted; naproxen: negated"),
    ("기록에 뇌전증 병력은 없습니다.", "epilepsy: negated"),
    ("백혈병을 의심할 만한 소견은 없습니다.", "leukemia: negated"),
    ("폐색전증은 배제되었습니다.", "pulmonary embolism: negated"),
    ("제2형 당뇨병이지만 인슐린은 필요하지 않습니다.", "type 2 diabetes mellitus: mentioned; insulin: negated"),
    (
        "천식은 있으시지만 만성폐쇄성폐질환은 아닙니다.",
        "asthma: asserted; chronic obstructive pulmonary disease: negated",
    ),
    ("실데나필과 니트로글리세린은 절대 함께 복용하면 안 됩니다.", "sildenafil: negated; nitroglycerin: negated"),
    ("당뇨병성 신증은 아직 없으십니다.", "diabetic nephropathy: negated"),
    (
        "치매를 걱정하시는데 검사상 알츠하이머병 소견은 보이지 않습니다.",
        "dementia: any; alzheimer's disease: negated",
    ),
    ("타이레놀은 드셔도 괜찮지만 애드빌은 안 됩니다.", "acetaminophen: advised; ibuprofen: negated"),
    ("메트포르민이 아닌 글리메피리드를 복용 중이십니다.", "metformin: negated; glimepiride: asserted"),
    ("당뇨병 진단을 받지 않으셨습니다.", "diabetes mellitus: negated"),
    ("아스피린은 복용하고 계시지만 클로피도그렐은 아닙니다.", "aspirin: asserted; clopidogrel: negated"),
    ("인슐린을 맞고 있지 않으시므로 저혈당 위험은 낮습니다.", "insulin: negated; hypoglycemia: hypothetical"),
    ("심부전 환자에게는 피오글리타존을 쓰지 않습니다.", "heart failure: general; pioglitazone: negated"),
    ("이것은 당뇨병이 아닙니다.", "diabetes mellitus: negated"),
    ("LDL은 70이 아니라 170 mg/dL입니다.", "ldl:70: negated; ldl:170: asserted"),
    ("췌장염 병력이 있어 세마글루타이드는 쓸 수 없습니다.", "pancreatitis: asserted; semaglutide: negated"),
    ("이번 검사에서 빈혈은 발견되지 않았습니다.", "anemia: negated"),
]
AVOIDED = [
    ("이부프로펜은 피하세요.", "ibuprofen: avoided"),
    (
        "이부프로펜, 나프록센, 디클로페낙 같은 소염진통제는 피하는 것이 좋습니다.",
        "ibuprofen: avoided; naproxen: avoided; diclofenac: avoided",
    ),
    ("이부프로펜은 신장에 부담을 주므로 피하세요.", "ibuprofen: avoided"),
    ("이부프로펜은 복용하지 마십시오.", "ibuprofen: avoided"),
    ("이부프로펜 대신 아세트아미노펜을 드세요.", "ibuprofen: avoided; acetaminophen: advised"),
    ("만성 신장병이 있으시므로 이부프로펜은 삼가세요.", "chronic kidney disease: asserted; ibuprofen: avoided"),
    (
        "피해야 할 약:\n- 이부프로펜\n- 나프록센\n\n현재 리시노프릴을 복용 중이십니다.",
        "ibuprofen: avoided; naproxen: avoided; lisinopril: asserted",
    ),
    ("아스피린을 이미 드시고 계시므로 이부프로펜은 추가하지 마세요.", "aspirin: asserted; ibuprofen: avoided"),
    ("eGFR이 28이므로 메트포르민은 중단해야 합니다.", "egfr:28: asserted; metformin: avoided"),
    ("조영제 검사 당일에는 메트포르민을 드시지 마세요.", "metformin: avoided"),
    ("암로디핀은 계속 드시되 이부프로펜은 끊으세요.", "amlodipine: asserted; ibuprofen: avoided"),
    (
        "이부프로펜이나 나프록센, 아스피린은 상의 없이 드시지 마세요.",
        "ibuprofen: avoided; naproxen: avoided; aspirin: avoided",
    ),
    ("아세트아미노펜은 괜찮지만 이부프로펜은 피하셔야 합니다.", "acetaminophen: advised; ibuprofen: avoided"),
    ("INR이 4를 넘을 때만 와파린을 중단합니다.", "inr:4: general; warfarin: avoided"),
    ("이부프로펜도 나프록센도 드시지 마세요.", "ibuprofen: avoided; naproxen: avoided"),
    ("이부프로펜은 물론 나프록센도 삼가시는 것이 좋겠습니다.", "ibuprofen: avoided; naproxen: avoided"),
]
FAMILY = [
    ("어머니께서 당뇨병을 앓으셨습니다.", "diabetes mellitus: family"),
    ("대장암 가족력이 있으십니다.", "colorectal cancer: family"),
    (
        "아버지는 심근경색을 겪으셨지만 귀하는 고혈압만 진단받으셨습니다.",
        "myocardial infarction: family; hypertension: asserted",
    ),
    ("부모님 두 분 모두 고혈압이 있으셨기 때문에 위험이 높습니다.", "hypertension: family"),
    ("당뇨를 앓으시는 어머니께서 메트포르민을 드십니다.", "diabetes mellitus: family; metformin: family"),
    ("82세이신 어머니께서 치매를 앓고 계십니다.", "age:82: family; dementia: family"),
    ("아내분의 혈압 160/100은 별개의 문제입니다.", "bp_systolic:160: family; bp_diastolic:100: family"),
]
EXAMPLES = [
    ("예를 들어 메트포르민은 간에서 포도당 생성을 줄입니다.", "metformin: example"),
    ("메트포르민과 같은 약이 있습니다.", "metformin: example"),
    ("혈압약(예: 암로디핀, 로사르탄)은 아침에 드세요.", "amlodipine: example; losartan: example"),
    ("암로디핀, 로사르탄 등의 혈압약이 있습니다.", "amlodipine: example; losartan: example"),
    ("당뇨발, 당뇨망막병증 같은 합병증에 주의하세요.", "diabetic foot: any; diabetic retinopathy: example"),
    (
        "당뇨병 약으로는 메트포르민, 글리메피리드, 시타글립틴 등이 있습니다.",
        "metformin: example; glimepiride: example; sitagliptin: example",
    ),
]
SUPPOSED = [
    ("만약 흉통이 생기면 니트로글리세린을 드세요.", "nitroglycerin: hypothetical"),
    ("당뇨병이 생기면 메트포르민을 시작합니다.", "diabetes mellitus: hypothetical; metformin: hypothetical"),
    ("혈당이 250 mg/dL 이상이면 인슐린이 필요할 수 있습니다.", "glucose:250: hypothetical; insulin: hypothetical"),
    ("심부전일 가능성이 있습니다.", "heart failure: hypothetical"),
    ("이는 뇌졸중과 심근경색의 위험을 낮춥니다.", "stroke: hypothetical; myocardial infarction: hypothetical"),
    ("당뇨병이 있으신가요?", "diabetes mellitus: hypothetical"),
    ("저혈당이 오면 사탕을 드세요.", "hypoglycemia: hypothetical"),
    ("고혈압을 오래 앓으셨으니 심부전 여부를 확인하겠습니다.", "hypertension: asserted; heart failure: hypothetical"),
    ("혈압이 160 이상으로 오르면 병원에 오세요.", "bp_systolic:160: hypothetical"),
    (
        "LDL이 190 mg/dL이었다면 로수바스타틴을 시작했을 것입니다.",
        "ldl:190: hypothetical; rosuvastatin: hypothetical",
    ),
    ("혈당이 70 mg/dL 아래로 떨어지면 포도당 사탕을 드세요.", "glucose:70: hypothetical"),
    (
        "협심증이 생길 경우 니트로글리세린이 도움이 됩니다.",
        "angina pectoris: hypothetical; nitroglycerin: hypothetical",
    ),
    ("주치의가 가바펜틴을 처방할 수 있습니다.", "gabapentin: hypothetical"),
    ("아스피린 프로텍트를 드시나요?", "aspirin: hypothetical"),
    ("혈압이 높으면 뇌졸중이 올 수 있습니다.", "stroke: hypothetical"),
    ("뇌졸중을 예방하기 위해 혈압을 조절하세요.", "stroke: hypothetical"),
    ("산소포화도가 90% 밑으로 내려가면 응급실로 오세요.", "spo2:90: hypothetical"),
    (
        "이 약은 위염이나 위궤양이 있으면 피하는 것이 좋습니다.",
        "gastritis: hypothetical; gastric ulcer: hypothetical",
    ),
    (
        "저는 54세 여성이고 천식이 있습니다. 이부프로펜을 먹어도 되나요?",
        "age:54: asserted; sex:female: asserted; asthma: asserted; ibuprofen: hypothetical",
    ),
    ("천식 발작이 오면 벤토린을 쓰세요.", "asthma: hypothetical; albuterol: hypothetical"),
    ("골다공증 예방을 위해 비타민 D를 드세요.", "osteoporosis: hypothetical; cholecalciferol: advised"),
]
GENERAL = [
    ("고혈압 환자는 짠 음식을 피하는 것이 좋습니다.", "hypertension: general"),
    ("일반적으로 당뇨병 환자는 메트포르민을 먼저 사용합니다.", "diabetes mellitus: general; metformin: general"),
    ("많은 분들이 고혈압으로 암로디핀을 복용합니다.", "hypertension: general; amlodipine: general"),
    ("목표 당화혈색소는 7% 미만입니다.", "hba1c:7: general"),
    ("당화혈색소를 6.5% 이하로 유지하세요.", "hba1c:6.5: general"),
    ("정상 혈압은 120/80 mmHg입니다.", "bp_systolic:120: general; bp_diastolic:80: general"),
    ("공복혈당 정상 범위는 70~99 mg/dL입니다.", "glucose:70: general; glucose:99: general"),
    ("65세 이상에서는 골다공증 검사를 권장합니다.", "age:65: general; osteoporosis: any"),
    (
        "혈압 130/80 mmHg 미만, LDL 70 mg/dL 미만을 목표로 하세요.",
        "bp_systolic:130: general; bp_diastolic:80: general; ldl:70: general",
    ),
    ("귀하의 LDL은 130 mg/dL로 목표인 100 mg/dL보다 높습니다.", "ldl:130: asserted; ldl:100: general"),
    ("남성에서 통풍이 더 흔합니다.", "gout: any; sex:male: general"),
    ("60대 여성에게 골다공증이 흔합니다.", "sex:female: general; osteoporosis: any"),
    (
        "고혈압이 있는 분들은 두 가지 이상의 약, 예를 들어 암로디핀과 발사르탄을 함께 드시기도 합니다.",
        "hypertension: general; amlodipine: any; valsartan: any",
    ),
    ("대한당뇨병학회는 당화혈색소 6.5% 미만을 권고합니다.", "hba1c:6.5: general"),
    ("칼륨의 정상 범위는 3.5~5.0 mmol/L입니다.", "potassium:3.5: general; potassium:5: general"),
    ("안정 시 심박수는 60회에서 100회 사이가 좋습니다.", "heart_rate:60: general; heart_rate:100: general"),
    ("크레아티닌 1.4 (참고치 0.7-1.3)", "creatinine:1.4: asserted; creatinine:0.7: general; creatinine:1.3: general"),
    ("운동 중 심박수는 110~130회를 유지하세요.", "heart_rate:110: general; heart_rate:130: general"),
    ("심부전 환자들은 흔히 푸로세미드를 복용합니다.", "heart failure: general; furosemide: general"),
    (
        "관상동맥질환이 있으시므로 LDL을 70 mg/dL 미만으로 유지하세요.",
        "coronary artery disease: asserted; ldl:70: general",
    ),
    ("혈압이 130/80 mmHg을 넘지 않도록 하세요.", "bp_systolic:130: general; bp_diastolic:80: general"),
    ("공복 혈당 100 이하, 식후 2시간 혈당 140 이하가 목표입니다.", "glucose:100: general; glucose:140: general"),
    ("체중은 현재 82kg에서 75kg까지 줄이는 것이 목표입니다.", "weight:82: asserted; weight:75: general"),
    ("BMI 25 이상을 비만이라고 합니다.", "bmi:25: general; obesity: mentioned"),
]
ADVISED = [
    ("인슐린을 고려하세요.", "insulin: advised"),
    ("인슐린 시작을 권합니다.", "insulin: advised"),
    ("통증에는 아세트아미노펜을 드셔도 됩니다.", "acetaminophen: advised"),
]
ASSERTED = [
    ("당뇨병뿐만 아니라 고혈압도 있으십니다.", "diabetes mellitus: asserted; hypertension: asserted"),
    ("현재 드시는 메트포르민을 거르지 마세요.", "metformin: asserted"),
    ("고혈압이 있어 짠 음식은 피하세요.", "hypertension: asserted"),
    ("혈당이 180으로 높지 않습니다.", "glucose:180: asserted"),
    ("혈압이 150/95로 높아 주의가 필요합니다.", "bp_systolic:150: asserted; bp_diastolic:95: asserted"),
    ("현재 메트포르민과 암로디핀을 복용 중이십니다.", "metformin: asserted; amlodipine: asserted"),
    (
        "환자분께서는 제2형 당뇨병과 고혈압을 앓고 계십니다.",
        "type 2 diabetes mellitus: asserted; hypertension: asserted",
    ),
    ("현재 복용 중인 메트포르민은 식후에 드세요.", "metformin: asserted"),
    ("예순일곱 살 여성이시군요.", "age:67: asserted; sex:female: asserted"),
    ("칠십 세 남자 환자분입니다.", "age:70: asserted; sex:male: asserted"),
    ("45세에 고혈압을 진단받으셨습니다.", "age:45: mentioned; hypertension: asserted"),
    ("10년 전부터 고혈압을 앓고 계십니다.", "hypertension: asserted"),
    ("혈압이 150에서 95 정도입니다.", "bp_systolic:150: asserted; bp_diastolic:95: asserted"),
    ("수축기 혈압은 150, 이완기 혈압은 95입니다.", "bp_systolic:150: asserted; bp_diastolic:95: asserted"),
    ("당화혈색소가 8.4%에서 7.2%로 좋아졌습니다.", "hba1c:8.4: past; hba1c:7.2: asserted"),
    ("혈소판은 15만, 백혈구는 8천입니다.", "platelets:150000: asserted; wbc:8000: asserted"),
    ("칼륨(5.4 mmol/L)과 크레아티닌(1.6 mg/dL)이 높습니다.", "potassium:5.4: asserted; creatinine:1.6: asserted"),
    ("현재 복용 중인 약:\n1. 메트포르민 500mg\n2. 암로디핀 5mg", "metformin: asserted; amlodipine: asserted"),
    ("**메트포르민**은 현재 복용 중이십니다.", "metformin: asserted"),
    (
        "키는 167cm, 체중은 61.5kg이고 BMI는 22.1입니다.",
        "height:167: asserted; weight:61.5: asserted; bmi:22.1: asserted",
    ),
    ("심박수는 분당 104회이며 산소포화도는 93%입니다.", "heart_rate:104: asserted; spo2:93: asserted"),
    ("귀하의 경우 고혈압과 고지혈증이 있습니다.", "hypertension: asserted; hyperlipidemia: asserted"),
    ("리시노프릴을 복용하시는 동안에는 칼륨 보충제를 피하세요.", "lisinopril: asserted"),
    ("메트포르민 복용 중에는 음주를 피하세요.", "metformin: asserted"),
    (
        "쉰다섯 살 남성이시고 혈압은 140/90입니다.",
        "age:55: asserted; sex:male: asserted; bp_systolic:140: asserted; bp_diastolic:90: asserted",
    ),
    ("검사 결과 공복혈당은 126mg/dL, 당화혈색소는 6.8%였습니다.", "glucose:126: asserted; hba1c:6.8: asserted"),
    ("2024년 5월 LDL은 3.4 mmol/L였습니다.", "ldl:3.4: asserted"),
    ("엘리퀴스와 아스피린을 함께 드시고 계시니 출혈에 주의하세요.", "apixaban: asserted; aspirin: asserted"),
    ("LDL이 160에서 98로 떨어졌습니다.", "ldl:160: past; ldl:98: asserted"),
    ("오늘 잰 혈압 162/98은 너무 높습니다.", "bp_systolic:162: asserted; bp_diastolic:98: asserted"),
    ("체온이 38.9도로 높습니다.", "temperature:38.9: asserted"),
    ("BMI가 33이므로 비만에 해당합니다.", "bmi:33: asserted; obesity: any"),
    ("54세 여성 당뇨병 환자입니다.", "age:54: asserted; sex:female: asserted; diabetes mellitus: any"),
    ("이전에 글리피지드를 드셨으나 지금은 시타글립틴으로 바꾸셨습니다.", "glipizide: past; sitagliptin: any"),
    (
        "당뇨병, 고혈압, 고지혈증이 모두 기록에 있습니다.",
        "diabetes mellitus: asserted; hypertension: asserted; hyperlipidemia: asserted",
    ),
    ("메트로니다졸을 드시는 동안 술은 피하세요.", "metronidazole: asserted"),
    ("메트포르민 500mg을 하루 두 번 복용하고 계십니다.", "metformin: asserted"),
    ("당뇨가 있으시니까 발 관리를 잘하세요.", "diabetes mellitus: asserted"),
    (
        "고혈압도 있으시고 당뇨도 있으신데 콜레스테롤은 정상입니다.",
        "hypertension: asserted; diabetes mellitus: asserted",
    ),
    ("67세이신 귀하께 맞는 운동은 걷기입니다.", "age:67: asserted"),
    ("남성 환자분이시고 나이는 67세로 확인됩니다.", "sex:male: asserted; age:67: asserted"),
    ("중성지방 수치가 무려 320mg/dL나 됩니다.", "triglyceride:320: asserted"),
    (
        "심근경색 후 아스피린과 클로피도그렐을 처방받으셨습니다.",
        "myocardial infarction: asserted; aspirin: asserted; clopidogrel: asserted",
    ),
    ("혈당은 공복 130, 식후 210입니다.", "glucose:130: asserted; glucose:210: asserted"),
    ("키 170에 몸무게 80이시군요.", "height:170: asserted; weight:80: asserted"),
    ("수축기 150 / 이완기 95", "bp_systolic:150: asserted; bp_diastolic:95: asserted"),
    ("나트륨과 칼륨은 각각 138, 4.2 mmol/L입니다.", "sodium:138: asserted; potassium:4.2: asserted"),
    ("AST와 ALT는 각각 41, 62 U/L입니다.", "ast:41: asserted; alt:62: asserted"),
    (
        "혈압은 아침 150/95, 저녁 140/90 mmHg입니다.",
        ("bp_systolic:150: asserted; bp_diastolic:95: asserted; bp_systolic:140: asserted; bp_diastolic:90: asserted"),
    ),
    ("당화혈색소는 지난 3월 8.1%였고 이번에는 7.4%입니다.", "hba1c:8.1: past; hba1c:7.4: asserted"),
    ("총콜레스테롤 210, LDL 140, HDL 38", "total_cholesterol:210: asserted; ldl:140: asserted; hdl:38: asserted"),
    ("칼륨이 높게(5.8) 나왔습니다.", "potassium:5.8: asserted"),
    ("당뇨병 환자이신 귀하께서는 발을 잘 살피세요.", "diabetes mellitus: asserted"),
    ("2020년에 폐렴, 2021년에 뇌졸중을 앓으셨습니다.", "pneumonia: past; stroke: past"),
    ("주치의가 라식스 40mg을 처방하셨습니다.", "furosemide: asserted"),
    ("약은 메트포르민 하나만 드시고 계시네요.", "metformin: asserted"),
    (
        "현재 앓고 계신 질환은 고혈압, 당뇨병, 고지혈증입니다.",
        "hypertension: asserted; diabetes mellitus: asserted; hyperlipidemia: asserted",
    ),
    ("드시는 약은 노바스크와 리피토입니다.", "amlodipine: asserted; atorvastatin: asserted"),
    ("혈색소가 10.2 g/dL로 빈혈이 확인되었습니다.", "hemoglobin:10.2: asserted; anemia: asserted"),
    ("metformin은 현재 복용 중이시고 NSAIDs는 피하셔야 합니다.", "metformin: asserted"),
]
MENTIONED = [
    ("고혈압은 증상이 없습니다.", "hypertension: mentioned"),
    ("메트포르민을 임의로 중단하지 마세요.", "metformin: mentioned"),
    ("메트포르민을 피할 필요는 없습니다.", "metformin: mentioned"),
    ("당뇨병 때문에 과일 주스는 제한해야 합니다.", "diabetes mellitus: mentioned"),
    ("당뇨병에는 단 음식을 피하세요.", "diabetes mellitus: mentioned"),
    ("메트포르민은 간에서 작용합니다.", "metformin: mentioned"),
    ("12살 때 맹장 수술을 받으셨습니다.", "age:12: mentioned"),
    ("고혈압 관리가 중요합니다.", "hypertension: mentioned"),
    ("당뇨병보다는 고혈압이 더 문제입니다.", "diabetes mellitus: any; hypertension: mentioned"),
    ("당뇨병 약에는 메트포르민이 있습니다.", "metformin: mentioned"),
    ("집안에서 가볍게 걷는 것도 고혈압에 좋습니다.", "hypertension: mentioned"),
]
NOTHING = [
    ("스쿼트 3세트를 하세요.", ""),
    ("여성호르몬 치료는 받지 않으셨습니다.", ""),
    ("체중을 5kg 줄이고 하루 30분 걸으세요.", ""),
    ("혈압을 하루 2번, 4주 동안 재세요.", ""),
    ("고혈압약과 당뇨약을 거르지 마세요.", ""),
    ("혈당 조절이 중요합니다.", ""),
    ("신장이 안 좋으시니 주의하세요.", ""),
    ("철분이 많은 음식을 드세요.", ""),
    ("나트륨은 하루 2g, 수분은 1.5L로 제한하세요.", ""),
    ("최대 심박수의 60~70%로 30분 걸으세요.", ""),
]


@pytest.mark.parametrize(("text", "expected"), DENIED)
def test_what_is_denied_is_negated_in_korean(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), AVOIDED)
def test_what_is_advised_against_is_avoided_in_korean(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), FAMILY)
def test_what_others_have_is_of_the_family_in_korean(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), EXAMPLES)
def test_examples_are_no_facts_in_korean(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), SUPPOSED)
def test_what_is_supposed_is_hypothetical_in_korean(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), GENERAL)
def test_what_is_said_of_people_goals_and_thresholds_is_general_in_korean(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), ADVISED)
def test_what_is_recommended_is_advised_in_korean(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), ASSERTED)
def test_what_is_said_of_the_patient_is_asserted_in_korean(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), MENTIONED)
def test_what_is_said_of_nobody_is_only_mentioned_in_korean(text: str, expected: str) -> None:
    check_mentions(text, expected)


@pytest.mark.parametrize(("text", "expected"), NOTHING)
def test_what_only_looks_like_a_mention_is_none_in_korean(text: str, expected: str) -> None:
    check_mentions(text, expected)
